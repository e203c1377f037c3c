//! The members of a declaration: their values and the methods of `Declaration` that take them.

use std::fmt;

use carillon_cron::members::{check_key, check_number, check_text, check_word, milliseconds, seconds};
use carillon_cron::{CronFields, Dialect, is_zone};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ExprUnary, Ident, Lit, LitInt, LitStr, UnOp};

/// The members that give a schedule.
pub const SCHEDULES: [&str; 4] = ["cron", "unix_cron", "every", "delay"];

/// What a member takes.
enum Kind {
    Key,
    /// A text, by the length of this member of a job.
    Text(&'static str),
    Word,
    Number,
    /// A duration, by the range of this member of a job.
    Seconds(&'static str),
    /// A duration of seconds and more, or of milliseconds.
    Period,
    Texts,
    Cron(Dialect),
    Zone,
    /// A number, or a list of texts.
    Parts,
    /// A duration, or a list of them.
    Delays,
}

/// All members beside `name`, `app` and `library`, sorted.
const MEMBERS: &[(&str, Kind)] = &[
    ("after", Kind::Key),
    ("block", Kind::Word),
    ("calendars", Kind::Texts),
    ("catch_up", Kind::Word),
    ("clock_changes", Kind::Word),
    ("cron", Kind::Cron(Dialect::Quartz)),
    ("delay", Kind::Seconds("seconds")),
    ("description", Kind::Text("description")),
    ("durability", Kind::Word),
    ("every", Kind::Period),
    ("flag_after", Kind::Seconds("flag_after_seconds")),
    ("handler", Kind::Text("handler")),
    ("limits", Kind::Texts),
    ("max_concurrent", Kind::Number),
    ("misfire", Kind::Word),
    ("misfire_limit", Kind::Number),
    ("misfire_threshold", Kind::Seconds("misfire_threshold_seconds")),
    ("misfire_window", Kind::Seconds("misfire_window_seconds")),
    ("on_excluded", Kind::Word),
    ("overlap", Kind::Word),
    ("overlap_queue", Kind::Number),
    ("owner", Kind::Text("owner")),
    ("params", Kind::Text("params")),
    ("parts", Kind::Parts),
    ("pause_after_failures", Kind::Number),
    ("priority", Kind::Number),
    ("retries", Kind::Number),
    ("retry_delay", Kind::Delays),
    ("route", Kind::Word),
    ("route_labels", Kind::Text("route_labels")),
    ("spread", Kind::Seconds("spread_seconds")),
    ("start_within", Kind::Seconds("start_within_seconds")),
    ("tags", Kind::Texts),
    ("timeout", Kind::Seconds("timeout_seconds")),
    ("timezone", Kind::Zone),
    ("title", Kind::Text("name")),
    ("unix_cron", Kind::Cron(Dialect::Unix)),
    ("was", Kind::Key),
];

/// The call of the method that has the member's name. `is_strict`: of the two day fields one must be `?`.
///
/// # Errors
/// The member is unknown, or its value is wrong.
pub fn call(name: &Ident, value: &Expr, is_strict: bool) -> Result<TokenStream, Error> {
    let member = name.to_string();
    let Some((_, kind)) = MEMBERS.iter().find(|(known, _)| *known == member) else {
        return Err(Error::new(name.span(), unknown(&name)));
    };
    let value = match kind {
        Kind::Key => {
            let key = key(value)?;
            quote!(#key)
        }
        Kind::Text(member) => checked_text(value, |text| check_text(member, text))?,
        Kind::Word => checked_text(value, |word| check_word(&member, word))?,
        Kind::Zone => checked_text(value, check_zone)?,
        Kind::Cron(dialect) => checked_text(value, |text| check_cron(*dialect, is_strict, text))?,
        Kind::Number => number(&member, value)?,
        Kind::Seconds(member) => duration(value, |seconds| check_number(member, seconds))?,
        Kind::Period => period(value)?,
        Kind::Texts => texts(value)?,
        Kind::Parts if matches!(value, Expr::Array(_)) => {
            let texts = texts(value)?;
            return Ok(quote!(.parts_of(#texts)));
        }
        Kind::Parts => number(&member, value)?,
        Kind::Delays => delays(value)?,
    };
    Ok(quote!(.#name(#value)))
}

/// The message for a member that there is not.
pub fn unknown(name: &dyn fmt::Display) -> String {
    let known: Vec<&str> = MEMBERS.iter().map(|(name, _)| *name).collect();
    format!("`{name}` is no member of a declaration; allowed: name, app, library, {}", known.join(", "))
}

/// A key.
///
/// # Errors
/// It is none.
pub fn key(value: &Expr) -> Result<LitStr, Error> {
    let key = text(value)?;
    check_key(&key.value()).map_err(|problem| Error::new(key.span(), problem))?;
    Ok(key)
}

/// The text of a value.
///
/// # Errors
/// It is none.
pub fn text(value: &Expr) -> Result<LitStr, Error> {
    match literal(value) {
        Some(Lit::Str(text)) => Ok(text.clone()),
        _ => Err(Error::new_spanned(value, "must be a text in quotes")),
    }
}

fn literal(value: &Expr) -> Option<&Lit> {
    match value {
        Expr::Lit(literal) => Some(&literal.lit),
        _ => None,
    }
}

fn checked_text(value: &Expr, check: impl FnOnce(&str) -> Result<(), String>) -> Result<TokenStream, Error> {
    let text = text(value)?;
    check(&text.value()).map_err(|problem| Error::new(text.span(), problem))?;
    Ok(quote!(#text))
}

fn check_cron(dialect: Dialect, is_strict: bool, expression: &str) -> Result<(), String> {
    let fields = match dialect {
        Dialect::Quartz if is_strict => CronFields::parse_strict(expression),
        dialect => CronFields::parse(dialect, expression),
    };
    fields.map(drop).map_err(|error| error.to_string())
}

fn check_zone(name: &str) -> Result<(), String> {
    match is_zone(name) {
        true => Ok(()),
        false => Err(format!("`{name:.64}` is not a time zone; write an IANA name such as `Europe/Berlin`, or `UTC`")),
    }
}

fn number(member: &str, value: &Expr) -> Result<TokenStream, Error> {
    let (sign, digits) = match value {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => (-1, &**expr),
        value => (1, value),
    };
    let number: &LitInt = match literal(digits) {
        Some(Lit::Int(number)) => number,
        _ => return Err(Error::new_spanned(value, "must be a number")),
    };
    let meant = sign * number.base10_parse::<i64>()?;
    check_number(member, meant).map_err(|problem| Error::new(number.span(), problem))?;
    let plain = LitInt::new(number.base10_digits(), number.span());
    Ok(if sign < 0 { quote!(-#plain) } else { quote!(#plain) })
}

/// A text such as `90s`.
fn duration(value: &Expr, check: impl Fn(i64) -> Result<(), String>) -> Result<TokenStream, Error> {
    let text =
        text(value).map_err(|error| Error::new(error.span(), "must be a duration in quotes, such as \"90s\""))?;
    let wrong = |problem| Error::new(text.span(), problem);
    let seconds = seconds(&text.value()).map_err(wrong)?;
    check(seconds).map_err(wrong)?;
    let seconds = seconds.unsigned_abs();
    Ok(quote!(::core::time::Duration::from_secs(#seconds)))
}

fn period(value: &Expr) -> Result<TokenStream, Error> {
    let given = text(value).ok();
    let Some((text, number)) = given.and_then(|text| milliseconds(&text.value()).map(|number| (text, number))) else {
        return duration(value, |seconds| check_number("seconds", seconds));
    };
    let wrong = |problem| Error::new(text.span(), problem);
    let number = number.map_err(wrong)?;
    check_number("milliseconds", number).map_err(wrong)?;
    let number = number.unsigned_abs();
    Ok(quote!(::core::time::Duration::from_millis(#number)))
}

fn texts(value: &Expr) -> Result<TokenStream, Error> {
    let Expr::Array(list) = value else {
        return Err(Error::new_spanned(value, "must be a list of texts, such as [\"a\", \"b\"]"));
    };
    let texts = list.elems.iter().map(text).collect::<Result<Vec<LitStr>, Error>>()?;
    Ok(quote!([#(#texts),*]))
}

fn delays(value: &Expr) -> Result<TokenStream, Error> {
    let check = |seconds| match seconds {
        0..=604_800 => Ok(()),
        _ => Err("a delay has at most 7d".to_owned()),
    };
    let delays = match value {
        Expr::Array(list) => {
            list.elems.iter().map(|value| duration(value, check)).collect::<Result<Vec<_>, Error>>()?
        }
        value => vec![duration(value, check)?],
    };
    Ok(quote!([#(#delays),*]))
}
