//! The texts of the console: both languages have all of them, and the templates have none of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Words that are the same in every language.
const NAMES: &[&str] = &["Carillon", "API", "CSV", "JSON", "UTC", "OpenID"];

/// Attributes that people read.
const READ: &[&str] = &["aria-label=\"", "title=\"", "placeholder=\"", "alt=\""];

pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All files below a folder, with the part of their path below it.
pub(super) fn files(folder: &Path) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    found.push((name, fs::read_to_string(&path).unwrap()));
                }
            }
        }
    }
    found.sort();
    found
}

/// The messages of a language: each key with the names of its arguments.
fn messages(language: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let files = files(&root().join("templates/locales").join(language));
    for (name, text) in files.into_iter().filter(|(name, _)| name.ends_with(".ftl")) {
        let mut key = None;
        for line in text.lines() {
            if let Some((start, _)) = line.split_once(" =").filter(|(start, _)| !start.contains(['#', ' ', '{', '['])) {
                assert!(!all.contains_key(start), "{language}/{name}: {start} is there twice");
                key = Some(start.to_owned());
            }
            let Some(key) = &key else { continue };
            let words = line.split('$').skip(1);
            let names =
                words.map(|it| it.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap().to_owned());
            all.entry(key.clone()).or_default().extend(names);
        }
    }
    all
}

#[test]
fn both_languages_have_the_same_messages_with_the_same_arguments() {
    let (english, chinese) = (messages("en"), messages("zh"));
    assert!(english.len() > 20, "the catalogue was not found");
    for (key, arguments) in &english {
        assert_eq!(chinese.get(key), Some(arguments), "zh: {key}");
    }
    let unknown: Vec<&String> = chinese.keys().filter(|key| !english.contains_key(*key)).collect();
    assert!(unknown.is_empty(), "only in zh: {unknown:?}");
}

#[test]
fn each_message_is_used_and_each_used_message_exists() {
    let keys = messages("en");
    let sources: String = ["templates", "admin/src/web", "admin/alerts/src", "admin/inspect/src"]
        .map(|folder| files(&root().join(folder)))
        .concat()
        .into_iter()
        .map(|it| it.1)
        .collect();
    let unused: Vec<&String> = keys.keys().filter(|key| !sources.contains(&format!("\"{key}\""))).collect();
    assert!(unused.is_empty(), "in the catalogue, but used by no page: {unused:?}");
    for call in [".t(\"", "language.text(\""] {
        for used in sources.split(call).skip(1) {
            let key = used.split('"').next().unwrap();
            assert!(keys.contains_key(key), "{call}{key}\") is not in the catalogue");
        }
    }
}

/// The words that a reader of the page sees and that the template holds itself.
fn own_words(template: &str) -> Vec<String> {
    let code = without(&without(&without(template, "{#", "#}"), "{%", "%}"), "{{", "}}");
    let mut texts: Vec<&str> = vec![];
    for attribute in READ {
        texts.extend(code.split(attribute).skip(1).filter_map(|it| it.split('"').next()));
    }
    let plain = without_attributes(&without(&without(&code, "<code", "</code>"), "<", ">"));
    texts.push(&plain);
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
    let is_word = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() > 1;
    let is_entity = |word: &&str| ["nbsp", "amp", "lt", "gt", "quot", "hellip", "middot"].contains(word);
    words.filter(is_word).filter(|word| !is_entity(word) && !NAMES.contains(word)).map(str::to_owned).collect()
}

/// The text with a space for each part from `open` to `close`.
fn without(text: &str, open: &str, close: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(open) {
        left.extend([before, " "]);
        rest = inside.split_once(close).map_or("", |(_, after)| after);
    }
    left + rest
}

/// The text without attributes that stand outside of a tag, as in a macro that writes a part of one.
fn without_attributes(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, value)) = rest.split_once("=\"") {
        left.push_str(before.rsplit_once(char::is_whitespace).map_or("", |(text, _name)| text));
        rest = value.split_once('"').map_or("", |(_, after)| after);
    }
    left + rest
}

#[test]
fn templates_have_no_text_of_their_own() {
    assert_eq!(
        own_words("<p title=\"Wait\">{{ context.t(\"a\") }} <b>Stop</b> <code>ls</code> API</p>"),
        ["Wait", "Stop"]
    );
    for (name, text) in files(&root().join("templates")).into_iter().filter(|(name, _)| name.ends_with(".html")) {
        let words = own_words(&text);
        assert!(words.is_empty(), "{name} has text that is not in the catalogue: {words:?}");
    }
}

/// Literals of the scripts that are no texts, although they have a blank or begin with a capital letter.
const NO_TEXTS: &[&str] = &["use strict", "log-chunk long", "Enter", "X-Carillon-Live"];

/// The literals of a script, without what is put into them.
fn script_literals(script: &str) -> Vec<String> {
    let lines = script.lines().map(|line| line.split_once("// ").map_or(line, |(code, _)| code));
    let script = lines.collect::<Vec<_>>().join("\n");
    let mut found = vec![];
    let mut rest = script.as_str();
    while let Some(at) = rest.find(['"', '`', '\'']) {
        let quote = &rest[at..=at];
        let (literal, after) = rest[at + 1..].split_once(quote).unwrap_or_default();
        found.push(without(literal, "${", "}"));
        rest = after;
    }
    found
}

/// Whether people would read it: two words side by side, or a word with a capital letter. Selectors have signs.
fn is_text(literal: &str) -> bool {
    let is_selector = literal.contains(['[', '.', '#', '>', '/', '$', '^']) || literal.contains(", ");
    let is_word = |word: &&str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    let words: Vec<&str> = literal.split(|c: char| !c.is_alphanumeric()).filter(is_word).collect();
    let has_capital = words.iter().any(|word| word.starts_with(char::is_uppercase));
    !NO_TEXTS.contains(&literal) && !is_selector && (has_capital || words.len() > 1 && literal.contains(' '))
}

#[test]
fn scripts_have_no_text_of_their_own() {
    let script = "say(`error ${index + 1} of ${rows.length}`); a(\"Copied\"); b('no error found'); // \"Not This\"";
    let texts: Vec<String> = script_literals(script).into_iter().filter(|literal| is_text(literal)).collect();
    assert_eq!(texts, ["error   of  ", "Copied", "no error found"]);
    assert!(!is_text("form[data-submit-on-change] select") && !is_text("aria-busy") && !is_text("input, select"));
    let keys = fs::read_to_string(root().join("admin/src/web/locale/script.rs")).unwrap();
    for (name, text) in files(&root().join("static")).into_iter().filter(|(name, _)| name.ends_with(".js")) {
        let literals = script_literals(&text);
        assert!(literals.len() > 30, "{name} was not read");
        let texts: Vec<&String> = literals.iter().filter(|literal| is_text(literal)).collect();
        assert!(texts.is_empty(), "{name} has text that is not in the catalogue: {texts:?}");
        for key in text.split("text(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(keys.contains(&format!("(\"{key}\", &[")), "{name}: text(\"{key}\") is no text of the scripts");
        }
    }
}

/// Attributes that scripts, style sheets and the server read, not people.
const NOT_READ: &[&str] = &[
    "class",
    "data-tone",
    "data-kind",
    "data-state",
    "data-testid",
    "data-cell",
    "data-key",
    "id",
    "for",
    "name",
    "value",
    "type",
    "href",
    "action",
    "method",
    "scope",
    "role",
    "inputmode",
    "autocomplete",
    "autocapitalize",
];

/// Texts of the catalogue in a tag, but in no value of an attribute: `disabled` must be so in every language.
fn bare_in_tags(template: &str) -> Vec<String> {
    let (mut found, mut seen) = (vec![], String::new());
    let code = without(template, "{%", "%}");
    let mut rest = code.as_str();
    while let Some((before, inside)) = rest.split_once("{{") {
        seen.push_str(before);
        let (expression, after) = inside.split_once("}}").unwrap_or((inside, ""));
        let tag = seen.rsplit('<').next().filter(|tag| seen.contains('<') && !tag.contains('>'));
        if expression.contains("context.t(") && tag.is_some_and(|tag| tag.matches('"').count() % 2 == 0) {
            found.push(expression.trim().to_owned());
        }
        rest = after;
    }
    found
}

#[test]
fn only_attributes_that_people_read_are_translated() {
    let text = "<p title=\"{{ context.t(\"a\") }}\">{{ context.t(\"b\") }} <input {{ context.t(\"c\") }}>";
    assert_eq!(bare_in_tags(text), ["context.t(\"c\")"]);
    let mut wrong = vec![];
    for (name, text) in files(&root().join("templates")).into_iter().filter(|(name, _)| name.ends_with(".html")) {
        for attribute in NOT_READ {
            // Up to the next quote: the one before the key, if the value begins with a text of the catalogue.
            let opened = format!(" {attribute}=\"");
            let starts = text.split(&*opened).skip(1).filter_map(|it| it.split('"').next());
            let translated = starts.filter(|start| start.contains("context.t("));
            wrong.extend(translated.map(|_| format!("{name}: {attribute}")));
        }
        wrong.extend(bare_in_tags(&text).into_iter().map(|expression| format!("{name}: {expression}")));
    }
    assert!(wrong.is_empty(), "these take their value from the catalogue: {wrong:?}");
}

// covers: B14
#[test]
fn chinese_texts_have_none_of_the_phrases_that_were_replaced() {
    let wrong = ["默认值的值", "应于 现在", "没有这个运行", "补触发", "分钟 的触发", "处差异: "];
    for (name, text) in files(&root().join("templates/locales/zh")) {
        for phrase in wrong {
            assert!(!text.contains(phrase), "{name}: {phrase}");
        }
    }
}
