//! What each option says.

use std::collections::BTreeMap;
use std::time::Duration;

use carillon_scheduler::HttpMethod;
use carillon_scheduler::job::http::is_reserved_header;

use super::arguments::{Arguments, Given, arguments};
use super::credentials::{Credential, is_credential, named};
use super::notes::{CurlRequest, Ignored, Meaning, Note, Unavailable};
use super::options::Kind;
use super::target::{Target, url_encoded};
use super::words::words;

/// Bytes of a line: a body of 64 KiB with its escapes, and the rest.
const MOST_BYTES: usize = 192 << 10;

/// The request of a line that begins with `curl`.
///
/// # Errors
/// Everything that keeps the line from being a request of an HTTP job. No error has a value of the line.
pub fn read(text: &str) -> Result<CurlRequest, Vec<String>> {
    if text.len() > MOST_BYTES {
        return Err(vec![format!("has {} bytes; at most {MOST_BYTES} are allowed", text.len())]);
    }
    let all = words(text)?;
    // The prompt of a shell.
    let mut words = all.words.into_iter().skip_while(|word| word == "$");
    let is_curl = |word: String| matches!(word.rsplit('/').next(), Some("curl" | "curl.exe"));
    if !words.next().is_some_and(is_curl) {
        return Err(vec!["must begin with `curl`".to_owned()]);
    }
    let Arguments { given, mut urls, faults, has_unknown } = arguments(words);
    let mut reader = Reader { faults, ..Reader::default() };
    for option in given {
        match option.kind {
            Kind::Url => urls.push(option.value),
            _ => reader.take(option),
        }
    }
    match urls.len() {
        1 => {}
        0 => reader.faults.push("has no URL".to_owned()),
        _ if has_unknown => {}
        count => reader.faults.push(format!("has {count} URLs; a request has one")),
    }
    let target = Target::parse(&urls.pop().unwrap_or_default());
    if target.has_odd_port() {
        reader.faults.push("has a port that is not a number from 1 to 65535".to_owned());
    }
    reader.finish(target, &all.variables)
}

/// What the options have said so far.
#[derive(Default)]
pub(super) struct Reader {
    pub method: Option<HttpMethod>,
    pub is_get: bool,
    pub is_head: bool,
    pub headers: Vec<Header>,
    /// Headers that curl sends if they are not given.
    pub defaults: BTreeMap<&'static str, String>,
    pub body: Option<String>,
    pub timeout_seconds: Option<i32>,
    /// With the option that has it.
    pub credentials: Vec<(String, Credential)>,
    pub notes: Vec<Note>,
    pub faults: Vec<String>,
}

/// A header with the option that has it.
pub(super) struct Header {
    pub option: String,
    pub name: String,
    /// None: a credential.
    pub value: Option<String>,
}

impl Reader {
    fn take(&mut self, Given { name, kind, value }: Given) {
        match kind {
            Kind::Method => self.take_method(name, &value),
            Kind::Header => self.take_header(&name, &value),
            Kind::Data | Kind::RawData | Kind::UrlEncodedData | Kind::Json => self.take_data(name, kind, value),
            Kind::User => {
                let (user, password) = value.split_once(':').map_or((&*value, None), |(it, rest)| (it, Some(rest)));
                self.credentials.push((name, Credential::of_user(user.to_owned(), password)));
            }
            Kind::Bearer => self.credentials.push((name, Credential::Bearer(named(&value)))),
            Kind::Get => {
                self.is_get = true;
                self.note(name, Meaning::Method);
            }
            Kind::Head => {
                self.is_head = true;
                self.note(name, Meaning::Method);
            }
            Kind::UserAgent => self.take_default(name, "User-Agent", value),
            Kind::Referer => self.take_default(name, "Referer", value),
            Kind::Cookie if value.contains('=') || named(&value).is_some() => self.add_header(name, "Cookie", &value),
            Kind::Cookie | Kind::ReadsFile => self.add_file(&name),
            Kind::MaxTime => self.take_timeout(name, &value),
            Kind::Ignored(why) => self.note(name, Meaning::Ignored(why)),
            Kind::Unavailable(why) => self.note(name, Meaning::Unavailable(why)),
            Kind::NoCounterpart => {
                self.faults.push(format!("`{name}` has no counterpart in an HTTP job; leave it out"));
            }
            Kind::Url => {}
        }
    }

    pub(super) fn note(&mut self, option: impl Into<String>, meaning: Meaning) {
        self.notes.push(Note { option: option.into(), meaning });
    }

    fn add_file(&mut self, name: &str) {
        self.faults.push(format!("`{name}` reads a file, which the server does not have; write its text in its place"));
    }

    fn take_method(&mut self, name: String, value: &str) {
        match value.to_ascii_uppercase().parse() {
            Ok(method) => {
                self.method = Some(method);
                self.note(name, Meaning::Method);
            }
            Err(_) => {
                let allowed: Vec<&str> = HttpMethod::ALL.iter().map(|method| method.as_str()).collect();
                let allowed = allowed.join(", ");
                self.faults.push(format!("`{name}` names a method that HTTP jobs do not have; allowed: {allowed}"));
            }
        }
    }

    fn take_timeout(&mut self, name: String, value: &str) {
        let time = value.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        // A part of a second counts as a whole one.
        let seconds = time.map(|time| time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0)));
        self.timeout_seconds = seconds.and_then(|seconds| i32::try_from(seconds).ok());
        match self.timeout_seconds {
            Some(_) => self.note(name, Meaning::Timeout),
            None => self.faults.push(format!("`{name}` needs a time in seconds")),
        }
    }

    /// The last one counts; a header of this name counts more.
    fn take_default(&mut self, option: String, name: &'static str, value: String) {
        if value.is_empty() {
            return self.note(option, Meaning::Ignored(Ignored::RemovedHeader));
        }
        if value.contains(char::is_control) {
            return self.add_header_fault(&option);
        }
        self.defaults.insert(name, value);
        self.note(option, Meaning::Header);
    }

    /// Several are one body, with `&` before each that is not of `--json`.
    fn take_data(&mut self, name: String, kind: Kind, value: String) {
        let reads_file = matches!(kind, Kind::Data | Kind::Json) && value.starts_with('@');
        let value = match kind {
            _ if reads_file => None,
            Kind::UrlEncodedData => url_encoded(&value),
            _ => Some(value),
        };
        let Some(value) = value else { return self.add_file(&name) };
        let sign = if kind == Kind::Json { "" } else { "&" };
        let body = self.body.take().map_or_else(|| value.clone(), |before| format!("{before}{sign}{value}"));
        self.body = Some(body);
        if kind == Kind::Json {
            self.defaults.insert("Content-Type", "application/json".to_owned());
            self.defaults.insert("Accept", "application/json".to_owned());
        } else {
            let form = || "application/x-www-form-urlencoded".to_owned();
            self.defaults.entry("Content-Type").or_insert_with(form);
        }
        self.note(name, Meaning::Body);
    }

    /// `Name: value`, `Name;` for an empty value, `Name:` against a header that curl sends by itself.
    fn take_header(&mut self, option: &str, text: &str) {
        if text.starts_with('@') {
            return self.add_file(option);
        }
        let empty = || Some((text.strip_suffix(';')?, None));
        let parts = text.split_once(':').map(|(name, value)| (name, Some(value.trim()))).or_else(empty);
        let is_name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
        let Some((name, value)) = parts.map(|(name, value)| (name.trim(), value)).filter(|(name, _)| is_name(name))
        else {
            return self.add_header_fault(option);
        };
        let option = format!("{option} {name:.100}");
        match value {
            Some("") => self.note(option, Meaning::Ignored(Ignored::RemovedHeader)),
            value => self.take_named_header(option, name, value.unwrap_or_default()),
        }
    }

    fn add_header_fault(&mut self, option: &str) {
        self.faults.push(format!("`{option}`: a header is written `Name: value` on one line"));
    }

    fn take_named_header(&mut self, option: String, name: &str, value: &str) {
        let lower = name.to_ascii_lowercase();
        let left_out = match lower.as_str() {
            "authorization" => return self.take_authorization(option, name, value),
            "accept-encoding" => Meaning::Ignored(Ignored::Compression),
            "host" => Meaning::Unavailable(Unavailable::Host),
            "proxy-authorization" => Meaning::Unavailable(Unavailable::Proxy),
            _ if is_reserved_header(&lower) => Meaning::Ignored(Ignored::WrittenByServer),
            _ => return self.add_header(option, name, value),
        };
        self.note(option, left_out);
    }

    fn take_authorization(&mut self, option: String, name: &str, value: &str) {
        match Credential::of_header(value) {
            Credential::Header if names_secret(value) => self.add_header(option, name, value),
            credential => self.credentials.push((option, credential)),
        }
    }

    /// Its note is made at the end, when the names of secrets are known.
    fn add_header(&mut self, option: String, name: &str, value: &str) {
        if value.contains(|c: char| c.is_control() && c != '\t') {
            return self.add_header_fault(&option);
        }
        if self.headers.iter().any(|header| header.name.eq_ignore_ascii_case(name)) {
            return self.faults.push(format!("the header `{name:.100}` is given twice"));
        }
        let is_kept = !is_credential(name) || value.is_empty() || names_secret(value);
        self.headers.push(Header { option, name: name.to_owned(), value: is_kept.then(|| value.to_owned()) });
    }
}

fn names_secret(value: &str) -> bool {
    value.contains("{{secret.")
}
