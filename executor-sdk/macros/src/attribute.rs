//! The members of the attribute: `name = value`, each once, at most one schedule.

use proc_macro2::TokenStream;
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Ident, LitStr, MetaNameValue, Path, Token};

use crate::member::{self, SCHEDULES, text};

/// What the attribute says.
pub struct Attribute {
    /// The key; `None`: the name of the function.
    pub key: Option<LitStr>,
    /// The app that declares it; `None`: the app of each executor of the program.
    pub app: Option<LitStr>,
    /// The path of this crate, if it has another name.
    pub library: Option<Path>,
    /// `.cron("0 0 2 * * ?")`
    pub calls: Vec<TokenStream>,
}

struct Member {
    name: Ident,
    value: Expr,
}

/// # Errors
/// All members that are wrong.
pub fn read(tokens: TokenStream) -> Result<Attribute, Error> {
    let members = Punctuated::<MetaNameValue, Token![,]>::parse_terminated.parse2(tokens)?;
    let members = members.into_iter().map(member_of).collect::<Result<Vec<Member>, Error>>()?;
    let mut faults = faults_of_all(&members);
    let mut attribute = Attribute { key: None, app: None, library: None, calls: vec![] };
    let is_strict = members.iter().any(|member| member.name == "clock_changes" && is_text(&member.value, "xxl"));
    for Member { name, value } in &members {
        let read = match name.to_string().as_str() {
            "name" => member::key(value).map(|key| attribute.key = Some(key)),
            "app" => text(value).map(|app| attribute.app = Some(app)),
            "library" => text(value).and_then(|path| path.parse()).map(|path| attribute.library = Some(path)),
            _ => member::call(name, value, is_strict).map(|call| attribute.calls.push(call)),
        };
        faults.extend(read.err());
    }
    match faults.into_iter().reduce(|mut all, fault| {
        all.combine(fault);
        all
    }) {
        None => Ok(attribute),
        Some(fault) => Err(fault),
    }
}

fn member_of(member: MetaNameValue) -> Result<Member, Error> {
    match member.path.get_ident() {
        Some(name) => Ok(Member { name: name.clone(), value: member.value }),
        None => Err(Error::new_spanned(&member.path, member::unknown(&"a path"))),
    }
}

/// Faults that need more than one member.
fn faults_of_all(members: &[Member]) -> Vec<Error> {
    let mut faults = vec![];
    for (index, Member { name, .. }) in members.iter().enumerate() {
        if members[..index].iter().any(|member| member.name == *name) {
            faults.push(Error::new(name.span(), format!("`{name}` is given twice")));
        }
    }
    let is_given = |wanted: &str| members.iter().any(|member| member.name == wanted);
    let schedules: Vec<&Ident> =
        members.iter().map(|member| &member.name).filter(|name| SCHEDULES.iter().any(|word| *name == word)).collect();
    if let [first, second, ..] = schedules[..] {
        let message = format!("the job has two schedules, `{first}` and `{second}`; a job has one");
        faults.push(Error::new(second.span(), message));
    }
    for Member { name, .. } in members {
        let needed: &[&str] = match name.to_string().as_str() {
            "timezone" | "clock_changes" => &["cron", "unix_cron"],
            "spread" | "calendars" => &SCHEDULES,
            "on_excluded" => &["calendars"],
            _ => continue,
        };
        if !needed.iter().any(|name| is_given(name)) {
            let needed: Vec<String> = needed.iter().map(|name| format!("`{name}`")).collect();
            faults.push(Error::new(name.span(), format!("`{name}` needs {}", needed.join(" or "))));
        }
    }
    faults
}

fn is_text(value: &Expr, wanted: &str) -> bool {
    text(value).is_ok_and(|text| text.value() == wanted)
}
