//! The sentences of errors, which are written in English in all crates and translated by `templates/locales/zh/sentences`: a source
//! has each of them, and those of the forms are all there.

use std::collections::{BTreeMap, BTreeSet};

use super::rust_text::{Literal, literals};
use super::texts::{files, root};

/// Crates whose sentences a page may show.
const SOURCES: &[&str] = &[
    "admin/accounts/src",
    "admin/alerts/src",
    "admin/declared/src",
    "admin/engine/src",
    "admin/import/src",
    "admin/inspect/src",
    "admin/scheduler/src",
    "admin/src",
    "admin/store/src",
    "executor-sdk/cron/src",
    "executor-sdk/protocol/src",
];

/// Folders and files that refuse what a form or an address of the console asks for.
const REFUSING: &[&str] = &[
    "admin/accounts/src/password.rs",
    "admin/accounts/src/people.rs",
    "admin/accounts/src/policy.rs",
    "admin/accounts/src/second_factor/",
    "admin/accounts/src/token.rs",
    "admin/alerts/src/channel/settings.rs",
    "admin/alerts/src/channel/template.rs",
    "admin/alerts/src/manage/",
    "admin/alerts/src/silence.rs",
    "admin/declared/src/edit.rs",
    "admin/engine/src/manage/",
    "admin/engine/src/outgoing/address.rs",
    "admin/scheduler/src/",
    "admin/src/web/console/",
    "admin/src/web/forms/",
    "admin/src/web/guard/session_guard.rs",
    "admin/src/web/page/",
    "admin/src/web/reports/",
    "admin/src/web/text/weekly.rs",
    "admin/store/src/alert/",
    "admin/store/src/app/",
    "admin/store/src/calendar/",
    "admin/store/src/job/",
    "admin/store/src/people/",
    "admin/store/src/retention/",
    "executor-sdk/cron/src/days.rs",
    "executor-sdk/cron/src/error.rs",
    "executor-sdk/cron/src/field_text.rs",
    "executor-sdk/cron/src/item.rs",
    "executor-sdk/cron/src/quartz.rs",
    "executor-sdk/cron/src/unix.rs",
    "executor-sdk/cron/src/years.rs",
];

/// The calls whose arguments are such sentences.
const REFUSALS: &[&str] = &[
    "#[error(",
    "Err(",
    "Error::Changed(",
    "Error::InUse(",
    "Error::Refused(",
    "Error::field(",
    "FieldError::new(",
    "LabelError(",
    "PageError::Bad(",
    "PageError::Forbidden(",
    "PageError::Gone(",
    "PageError::NotAllowed(",
    "add_error(",
    "errors.add(",
    "invalid(",
    "must(",
    "self.add(",
    "wrong(",
    "wrong.push((",
];

/// What such calls say to programs alone, or to the log, and the names of objects that do not exist.
const NOT_ON_PAGES: &[&str] = &[
    "former name {} of app {}",
    "maintenance window",
    "maintenance window {} in force now",
    "second factor",
    "the second factor",
    "the user {}",
    "the password could not be hashed: {}",
    "{} has {} live executors already (--app-executors)",
    "base_seconds {} is above cap_seconds {}",
    "`{}` is not a retry delay; it reads `exponential 5 300` (first and longest delay in seconds) or `fixed 10 60 600`",
    "missing; kind {} needs it",
    "a schedule of kind {} does not have it",
    "{} (a former name of another app)",
    "not the name of a time zone",
    "zone data cannot be replaced while the process runs",
    "{} holds no time zones; write a folder of compiled zones such as /usr/share/zoneinfo",
    "{} cannot be read: {}",
    "{} is damaged: {}",
];

/// In a file of the catalogue, the line before the sentences that no source has in one literal.
const IN_PARTS: &str = "# In parts:\n";

/// Words with places for arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Sentence(Vec<String>);

/// Stands for an argument.
const PLACE: &str = "{}";

impl Sentence {
    /// From a format string, with a small letter at the start: a sentence may begin with a capital where it stands alone.
    fn new(text: &str) -> Self {
        let (mut words, mut rest) = (vec![String::new()], text);
        while let Some(at) = rest.find(['{', '}']) {
            let (before, mark) = rest.split_at(at);
            let is_double = mark.starts_with("{{") || mark.starts_with("}}");
            words.last_mut().unwrap().push_str(before);
            rest = match (is_double, mark.find('}').filter(|_| mark.starts_with('{'))) {
                (true, _) => {
                    words.last_mut().unwrap().push_str(&mark[..1]);
                    &mark[2..]
                }
                (_, Some(end)) => {
                    words.push(String::new());
                    &mark[end + 1..]
                }
                _ => &mark[1..],
            };
        }
        words.last_mut().unwrap().push_str(rest);
        words[0].get_mut(..1).unwrap_or_default().make_ascii_lowercase();
        Self(words)
    }

    fn text(&self) -> String {
        self.0.join(PLACE)
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(String::len).sum()
    }

    /// Whether the other one is this one with its places filled.
    fn covers(&self, other: &str) -> bool {
        let [start, inner @ .., end] = &self.0[..] else { return self.0[0] == other };
        let Some(mut rest) = other.strip_prefix(&**start) else { return false };
        for words in inner {
            let Some((_, behind)) = rest.split_once(&**words) else { return false };
            rest = behind;
        }
        rest.ends_with(&**end) && self.bytes() > 8
    }

    /// Whether the other one is most of this one.
    fn is_mostly(&self, other: &Self) -> bool {
        other.bytes() > 7 && other.bytes() * 2 >= self.bytes() && self.text().contains(&other.text())
    }

    fn is_like(&self, other: &Self) -> bool {
        self == other
            || self.covers(&other.text())
            || other.covers(&self.text())
            || self.is_mostly(other)
            || other.is_mostly(self)
    }

    fn has_words(&self) -> bool {
        let text = self.text();
        let words = text.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1);
        text.contains(' ') && words.count() > 1
    }
}

#[derive(Default)]
struct Catalogue {
    whole: BTreeSet<Sentence>,
    in_parts: BTreeSet<Sentence>,
}

fn catalogue() -> Catalogue {
    let mut all = Catalogue::default();
    for (name, text) in files(&root().join("templates/locales/zh/sentences")) {
        let (whole, in_parts) = text.split_once(IN_PARTS).unwrap_or((&text, ""));
        for (lines, sentences) in [(whole, &mut all.whole), (in_parts, &mut all.in_parts)] {
            for line in lines.lines().filter(|line| !line.starts_with('#')) {
                let (english, chinese) = line.split_once(" = ").unwrap_or_else(|| panic!("{name}: {line}"));
                assert!(!chinese.contains(" = "), "{name}: {line}");
                assert!(sentences.insert(Sentence::new(english)), "{name}: {english} is there twice");
            }
        }
    }
    assert!(all.whole.len() > 200, "the catalogue was not found");
    all
}

/// The sources without their tests.
fn sources() -> Vec<(String, Vec<Literal>, String)> {
    let mut found = vec![];
    for folder in SOURCES {
        let files = files(&root().join(folder));
        for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".rs") && !name.ends_with("_tests.rs")) {
            let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let (literals, code) = literals(product);
            found.push((format!("{folder}/{name}"), literals, code));
        }
    }
    found
}

/// A sentence that was changed in a source must be changed in the catalogue, too: otherwise pages show it in English. It must be the
/// same but for the names of its arguments. One in parts counts as the same if one of its parts has most of the words.
#[test]
fn each_sentence_of_the_catalogue_is_in_a_source() {
    let sources = sources();
    let literals = sources.iter().flat_map(|(_, literals, _)| literals);
    let written: BTreeSet<Sentence> = literals.map(|it| Sentence::new(&it.text)).collect();
    let Catalogue { whole, in_parts } = catalogue();
    let unwritten: Vec<_> = whole.difference(&written).collect();
    assert!(unwritten.is_empty(), "no source has these sentences: {unwritten:#?}");
    let is_in_parts = |it: &&Sentence| !written.contains(it) && written.iter().any(|part| it.is_like(part));
    let wrong: Vec<_> = in_parts.iter().filter(|it| !is_in_parts(it)).collect();
    assert!(wrong.is_empty(), "no source has these sentences in parts: {wrong:#?}");
}

/// Every text within a call that refuses something, in the files whose refusals pages show. It cannot see a text that comes by a
/// constant or a variable, one that only a closure of another name is given, and what executors, databases and libraries say.
#[test]
fn each_refusal_of_a_form_is_in_the_catalogue() {
    let Catalogue { whole, in_parts } = catalogue();
    let (sources, mut missing) = (sources(), BTreeMap::new());
    for (file, literals, code) in sources.iter().filter(|(file, ..)| REFUSING.iter().any(|it| file.starts_with(it))) {
        for (at, call) in REFUSALS.iter().flat_map(|call| code.match_indices(call)) {
            let begin = at + call.len();
            let is_name = code[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let end = begin + closing(&code[begin..]);
            for literal in literals.iter().filter(|it| !is_name && (begin..end).contains(&it.at)) {
                let sentence = Sentence::new(&literal.text);
                let is_known = || whole.contains(&sentence) || in_parts.iter().any(|it| it.is_like(&sentence));
                if sentence.has_words() && !NOT_ON_PAGES.contains(&&*sentence.text()) && !is_known() {
                    missing.insert(sentence.text(), file);
                }
            }
        }
    }
    assert!(missing.is_empty(), "templates/locales/zh/sentences lacks these: {missing:#?}");
}

/// Where the bracket that is open at the start is closed.
fn closing(code: &str) -> usize {
    let mut open = 1;
    for (at, c) in code.char_indices() {
        open += i32::from(matches!(c, '(' | '[' | '{')) - i32::from(matches!(c, ')' | ']' | '}'));
        if open == 0 {
            return at;
        }
    }
    code.len()
}

#[test]
fn sentences_are_compared_by_their_words() {
    let new = Sentence::new;
    assert_eq!(new("{x:?} of {} is `{{{a}}}`").0, ["", " of ", " is `{", "}`"]);
    assert_eq!(new("There is {}"), new("there is {no}"));
    assert!(new("there is no {0}").is_like(&new("there is no job {id}")));
    assert!(new("has {} days; at most {MOST} are allowed").is_like(&new("has {n} days; at most {m} are allowed")));
    assert!(new("the executor was restarted").is_like(&new("{a}: the executor was restarted")));
    assert!(!new("the executor was started").is_like(&new("{a}: the executor was restarted")));
    assert!(!new("{}: {}").is_like(&new("has {} days; at most {} are allowed: {}")));
}
