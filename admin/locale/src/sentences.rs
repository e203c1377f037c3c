//! Translates error sentences. The crates write them in English; the console translates them when it shows them.
//!
//! They are the messages of `errors/*.ftl`. An English message there is a pattern: words, and places for arguments. A sentence that
//! is such a message as a whole has the arguments at its places; with them the other language's message of the same key is
//! written.

use std::borrow::Cow;
use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentResource};
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Message, PatternElement};

use crate::catalogue;
use crate::language::Language;

/// The folder of the files, in that of a language.
const FILES: &str = "errors/";
/// Bytes of the longest sentence. What is longer is no sentence of ours.
const MOST_BYTES: usize = 8_000;
/// How deep sentences may stand in each other.
const MOST_DEPTH: u8 = 3;

/// Those with most words first, so that the first one that fits is the one that says most.
static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let resources = catalogue::resources(Language::English, FILES);
    let mut patterns: Vec<Pattern> = resources.iter().flat_map(patterns).collect();
    patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.words()));
    patterns
});

impl Language {
    /// The sentence in this language; a text that the catalogue does not have as it is. An argument whose name ends in `_text` is
    /// a sentence too, and one whose name ends in `_number` nothing but a number.
    pub fn say(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::English => text.into(),
            _ if text.len() > MOST_BYTES => text.into(),
            _ => {
                let sentence = self.of_member(text).or_else(|| self.translated(text, MOST_DEPTH));
                sentence.map_or(text.into(), Cow::Owned)
            }
        }
    }

    /// An error with the member of a request that it is about: `schedule.seconds: …`.
    fn of_member(self, text: &str) -> Option<String> {
        let (member, message) = text.split_once(": ")?;
        let is_member = member.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.[]".contains(c));
        let message = is_member.then(|| self.translated(message, MOST_DEPTH)).flatten()?;
        Some(self.text("field-fault").with("field", member).with("message", message).to_string())
    }

    fn translated(self, text: &str, depth: u8) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let (pattern, found) = PATTERNS.iter().find_map(|pattern| Some((pattern, pattern.arguments(text)?)))?;
        let mut arguments = FluentArgs::new();
        for (name, value) in found {
            let sentence = name.ends_with("_text").then(|| self.translated(value, depth)).flatten();
            arguments.set(name.to_owned(), sentence.unwrap_or_else(|| value.to_owned()));
        }
        catalogue::text(self, &pattern.key, &arguments)
    }
}

/// An English message: its first words, then each argument with the words behind it.
struct Pattern {
    key: String,
    start: String,
    places: Vec<(String, String)>,
}

fn patterns(resource: &FluentResource) -> Vec<Pattern> {
    let message = |entry: &Entry<&str>| match entry {
        Entry::Message(message) => Pattern::new(message),
        _ => None,
    };
    resource.entries().filter_map(message).collect()
}

impl Pattern {
    fn new(message: &Message<&str>) -> Option<Self> {
        let mut pattern = Self { key: message.id.name.to_owned(), start: String::new(), places: vec![] };
        for element in &message.value.as_ref()?.elements {
            let words = match element {
                PatternElement::TextElement { value } => value,
                PatternElement::Placeable { expression: Expression::Inline(it) } => match it {
                    InlineExpression::StringLiteral { value } => value,
                    InlineExpression::VariableReference { id } => {
                        pattern.places.push((id.name.to_owned(), String::new()));
                        continue;
                    }
                    _ => return None,
                },
                PatternElement::Placeable { .. } => return None,
            };
            pattern.places.last_mut().map_or(&mut pattern.start, |(_, behind)| behind).push_str(words);
        }
        Some(pattern)
    }

    /// How many bytes are words.
    fn words(&self) -> usize {
        self.start.len() + self.places.iter().map(|(_, behind)| behind.len()).sum::<usize>()
    }

    /// The arguments of a text that is this message: each ends at the first words that may follow it, so the work grows with the
    /// length of the text alone.
    fn arguments<'a>(&'a self, text: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
        let mut rest = strip_start(text, &self.start)?;
        let Some(((last, end), places)) = self.places.split_last() else {
            return rest.is_empty().then(Vec::new);
        };
        let mut found = vec![];
        for (name, behind) in places {
            let (value, after) = rest.split_once(&**behind)?;
            found.push((&**name, value));
            rest = after;
        }
        found.push((last, rest.strip_suffix(&**end)?));
        let fits = |(name, value): &(&str, &str)| !name.ends_with("_number") || value.parse::<i64>().is_ok();
        found.iter().all(fits).then_some(found)
    }
}

/// What follows the start. A sentence may begin with a capital letter where it stands alone.
fn strip_start<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(start.len())?;
    let begins_alike = || head.get(..1)?.eq_ignore_ascii_case(start.get(..1)?).then_some(());
    (head == start || head.get(1..) == start.get(1..) && begins_alike().is_some()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        let resource = FluentResource::try_new(format!("key = {text}")).unwrap();
        patterns(&resource).remove(0)
    }

    #[test]
    fn a_sentence_gives_its_arguments() {
        let has = pattern("has { $count } days; at most { $most } are allowed");
        assert_eq!(has.arguments("has 7 days; at most 5 are allowed"), Some(vec![("count", "7"), ("most", "5")]));
        assert_eq!(has.arguments("Has 7 days; at most 5 are allowed").map(|found| found.len()), Some(2));
        for other in ["", "has 7 days", "It has 7 days; at most 5 are allowed", "has 7 days; at most 5 are allowed."] {
            assert_eq!(has.arguments(other), None, "{other}");
        }
        let ends = pattern("“{ $text }” is { $what }");
        assert_eq!(ends.arguments("“” is ü"), Some(vec![("text", ""), ("what", "ü")]));
        assert_eq!(ends.arguments("“é” is no id").unwrap()[0].1, "é");
        assert!(pattern("é is { $what }").arguments("è is it").is_none(), "letters of several bytes");
        assert_eq!(pattern("none").arguments("None"), Some(vec![]));
        assert_eq!(pattern("use { \"{{\" }{ $name }").arguments("use {{b"), Some(vec![("name", "b")]));
    }

    #[test]
    fn english_and_what_is_not_in_the_catalogue_stay_as_they_are() {
        let known = "must be one line without control characters";
        assert_eq!(Language::English.say(known), known);
        assert_ne!(Language::Chinese.say(known), known);
        for unknown in ["", "java.lang.IllegalStateException: no", &known.repeat(500)] {
            assert_eq!(Language::Chinese.say(unknown), unknown);
        }
    }

    #[test]
    fn the_pattern_with_most_words_wins() {
        assert_eq!(Language::Chinese.say("0 is not allowed; 1 to 100"), "不允许 0，范围为 1 到 100");
        assert_eq!(Language::Chinese.say("24 is not allowed; hours are 0 to 23"), "不允许 24；时的范围为 0 到 23");
        let of_member = Language::Chinese.say("schedule.seconds: 0 is not allowed; 1 to 100 seconds");
        assert_eq!(of_member, "schedule.seconds：不允许 0，范围为 1 到 100 秒");
        let weekday = "`8` is not allowed; write 6L or FRIL alone, for the last Friday of the month";
        assert!(Language::Chinese.say(weekday).contains("FRIL"), "{}", Language::Chinese.say(weekday));
        assert!(!Language::Chinese.say(weekday).contains("Friday"));
    }

    #[test]
    fn a_sentence_in_a_sentence_is_translated_too() {
        let text = "hour field: 24 is not allowed; hours are 0 to 23 (field 3 of 6: `24`)";
        let chinese = Language::Chinese.say(text);
        let words = chinese.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| word.len() > 1);
        assert_eq!(words.collect::<Vec<_>>(), Vec::<&str>::new(), "{chinese}");
        assert!(chinese.contains("24") && chinese.contains("23"), "{chinese}");
    }

    #[test]
    fn every_pattern_has_words_between_its_arguments_and_fits_its_own_message() {
        assert!(PATTERNS.len() > 200, "{} patterns", PATTERNS.len());
        for pattern in PATTERNS.iter() {
            let inner = pattern.places.split_last().map_or(&[][..], |(_, places)| places);
            assert!(inner.iter().all(|(_, behind)| !behind.is_empty()), "{}", pattern.key);
            assert!(pattern.places.is_empty() || pattern.words() > 4, "{} fits nearly every text", pattern.key);
            let mut text = pattern.start.clone();
            pattern.places.iter().for_each(|(_, behind)| text.extend(["7", behind]));
            assert!(pattern.arguments(&text).is_some(), "{}", pattern.key);
            assert!(Language::Chinese.translated(&text, 1).is_some(), "{} cannot be written in Chinese", pattern.key);
        }
    }

    #[test]
    fn hostile_texts_cost_little() {
        let long = "`a` is not allowed; ".repeat(400);
        let begun = std::time::Instant::now();
        for text in [&long[..7_990], &"; ".repeat(4_000), &"`".repeat(8_000)] {
            Language::Chinese.say(text);
        }
        assert!(begun.elapsed().as_secs() < 2, "{:?}", begun.elapsed());
    }
}
