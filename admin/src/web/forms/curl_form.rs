//! A request from a line of curl: the line fills the fields of the request, and is not kept. Nothing is saved by it.

use carillon_import::curl::{self, Ignored, Meaning, Note, Unavailable};

use crate::web::forms::form::Form;
use crate::web::forms::{http_form, line_ends};
use crate::web::locale::{Language, Message};

const FIELD: &str = "http_curl";

pub const LABELS: &[(&str, &str)] = &[(FIELD, "http-curl")];

/// What became of the options of a line.
pub struct CurlNotes {
    /// The key of the group's title, and each option with a text.
    pub groups: Vec<(&'static str, Vec<(String, Message)>)>,
}

/// Whether the form was sent to have its line read.
pub fn is_asked(form: &Form) -> bool {
    form.is("step", "read_curl")
}

/// Fills the form in. None: the line cannot be read; the form has its faults and is as it was.
pub fn read(form: &mut Form, language: Language) -> Option<CurlNotes> {
    let line = line_ends::plain(form.value(FIELD));
    match curl::read(&line) {
        Ok(read) => {
            *form = http_form::fill_sent(std::mem::take(form), &read.request);
            if read.has_timeout {
                form.set("http_timeout_seconds", read.request.timeout_seconds.to_string());
            }
            form.set(FIELD, "");
            form.add_errors(read.request.validate());
            Some(CurlNotes { groups: groups(&read.notes, language) })
        }
        Err(faults) => {
            faults.into_iter().for_each(|fault| form.add_further_error(FIELD, fault));
            None
        }
    }
}

/// A line that was pasted and not read would be lost.
pub fn refuse_unread(form: &mut Form) {
    if http_form::is_chosen(form) && form.given(FIELD).is_some() {
        form.add_error(FIELD, "is not read yet; fill the fields in from it, or empty it");
    }
}

fn groups(notes: &[Note], language: Language) -> Vec<(&'static str, Vec<(String, Message)>)> {
    let keys = ["curl-secrets", "curl-unavailable", "curl-ignored", "curl-read"];
    let of = |key| notes.iter().filter(move |note| group(&note.meaning) == key);
    let line = |note: &Note| (note.option.clone(), text(&note.meaning, language));
    let groups = keys.map(|key| (key, of(key).map(line).collect::<Vec<_>>()));
    groups.into_iter().filter(|(_, lines)| !lines.is_empty()).collect()
}

fn group(meaning: &Meaning) -> &'static str {
    match meaning {
        Meaning::Secret(_) | Meaning::UserSecret(_) => "curl-secrets",
        Meaning::Unavailable(_) => "curl-unavailable",
        Meaning::Ignored(_) => "curl-ignored",
        _ => "curl-read",
    }
}

fn text(meaning: &Meaning, language: Language) -> Message {
    let key = match meaning {
        Meaning::Secret(name) => return language.text("curl-secret").with("name", name),
        Meaning::UserSecret(name) => return language.text("curl-user-secret").with("name", name),
        Meaning::Method => "http-method",
        Meaning::Url => "http-url",
        Meaning::Header => "http-headers",
        Meaning::Body => "http-body",
        Meaning::Timeout => "http-timeout",
        Meaning::Authentication => "http-auth",
        Meaning::Ignored(why) => ignored(*why),
        Meaning::Unavailable(what) => unavailable(*what),
    };
    language.text(key)
}

fn ignored(why: Ignored) -> &'static str {
    match why {
        Ignored::Default => "curl-ignored-default",
        Ignored::Output => "curl-ignored-output",
        Ignored::Status => "curl-ignored-status",
        Ignored::Compression => "curl-ignored-compression",
        Ignored::Connection => "curl-ignored-connection",
        Ignored::Retries => "curl-ignored-retries",
        Ignored::WrittenByServer => "curl-ignored-written",
        Ignored::RemovedHeader => "curl-ignored-removed",
        Ignored::Fragment => "curl-ignored-fragment",
    }
}

fn unavailable(what: Unavailable) -> &'static str {
    match what {
        Unavailable::Redirects => "curl-no-redirects",
        Unavailable::UncheckedTls => "curl-no-unchecked-tls",
        Unavailable::Certificates => "curl-no-certificates",
        Unavailable::Proxy => "curl-no-proxy",
        Unavailable::Address => "curl-no-address",
        Unavailable::Authentication => "curl-no-authentication",
        Unavailable::Host => "curl-no-host",
        Unavailable::Variable => "curl-no-variable",
    }
}
