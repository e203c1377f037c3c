//! The texts that the console's scripts write.

use std::sync::LazyLock;

use carillon_locale::Language;

/// The keys that the scripts use, each with its arguments.
const KEYS: [(&str, &[&str]); 25] = [
    ("due-now", &[]),
    ("live-offline", &["seconds"]),
    ("live-on", &[]),
    ("live-pause", &[]),
    ("live-paused", &[]),
    ("live-resume", &[]),
    ("live-signed-out", &[]),
    ("log-copied", &[]),
    ("log-copy", &[]),
    ("log-error-match", &["number", "count"]),
    ("log-loaded", &["to"]),
    ("log-loaded-of", &["to", "all"]),
    ("log-match", &["number", "count"]),
    ("log-no-error", &[]),
    ("log-no-error-in", &["from", "to"]),
    ("log-no-match", &[]),
    ("log-no-match-in", &["from", "to"]),
    ("time-ago", &["amount"]),
    ("time-hours", &["hours"]),
    ("time-in", &["amount"]),
    ("time-minutes", &["minutes"]),
    ("time-minutes-seconds", &["minutes", "seconds"]),
    ("time-now", &[]),
    ("time-seconds", &["seconds"]),
    ("time-days", &["days"]),
];

/// What the scripts write: `{"time-in": "in {amount}"}`, each message with the names of its arguments in braces.
pub fn script_words(language: Language) -> &'static str {
    static WORDS: LazyLock<[String; 2]> = LazyLock::new(|| Language::ALL.map(words));
    &WORDS[language as usize]
}

fn words(language: Language) -> String {
    let text = |(key, names): (&'static str, &[&'static str])| {
        let message = names.iter().fold(language.text(key), |message, name| message.with(name, format!("{{{name}}}")));
        (key.to_owned(), message.to_string().into())
    };
    serde_json::Value::Object(KEYS.into_iter().map(text).collect()).to_string()
}
