//! Translates sentences. The crates write them in English; the console translates them when it shows them.
//!
//! The files `zh/sentences/*.txt` have a line for each sentence: `English = Chinese`. The English text is a pattern as the source writes
//! it: words, and places for arguments such as `{count}`. A text that fits the whole pattern has the arguments at these places; the
//! Chinese is written with them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::LazyLock;

use crate::catalogue;
use crate::language::Language;

/// Bytes of the longest sentence. A longer text is no sentence of ours.
const MOST_BYTES: usize = 8_000;
/// How deep sentences may stand in each other.
const MOST_DEPTH: u8 = 3;

/// English sentences with their Chinese. Those with most words stand first: the first one that fits is the one that says most.
static CHINESE: LazyLock<Vec<(Pattern, Pattern)>> = LazyLock::new(|| {
    let texts: Vec<_> = catalogue::files(Language::Chinese, ".txt").collect();
    let lines = texts.iter().flat_map(|(_, text)| text.lines()).filter_map(|line| line.split_once(" = "));
    let mut all: Vec<_> = lines.map(|(english, chinese)| (Pattern::new(english), Pattern::new(chinese))).collect();
    all.sort_by_key(|(english, _)| Reverse(english.words()));
    all
});

impl Language {
    /// The sentence in this language; a text that the catalogue does not have as it is. An argument whose name ends in `_text` is
    /// a sentence too, and one whose name ends in `_number` nothing but a number.
    pub fn say(self, text: &str) -> Cow<'_, str> {
        let sentence = match self {
            Self::English => None,
            Self::Chinese if text.len() > MOST_BYTES => None,
            Self::Chinese => self.of_member(text).or_else(|| in_chinese(text, MOST_DEPTH)),
        };
        sentence.map_or(text.into(), Cow::Owned)
    }

    /// An error with the member of a request that it is about: `schedule.seconds: …`.
    fn of_member(self, text: &str) -> Option<String> {
        let (member, message) = text.split_once(": ")?;
        let is_member = member.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.[]-".contains(c));
        let message = is_member.then(|| in_chinese(message, MOST_DEPTH)).flatten()?;
        Some(self.text("field-fault").with("field", member).with("message", message).to_string())
    }
}

fn in_chinese(text: &str, depth: u8) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let (chinese, found) = CHINESE.iter().find_map(|(english, chinese)| Some((chinese, english.arguments(text)?)))?;
    chinese.with(|name| {
        let (_, value) = *found.iter().find(|(found, _)| *found == name)?;
        let inner = name.ends_with("_text").then(|| in_chinese(value, depth)).flatten();
        Some(inner.unwrap_or_else(|| value.to_owned()))
    })
}

/// The words before the first argument, then the name of each argument with the words behind it.
struct Pattern {
    start: String,
    places: Vec<(String, String)>,
}

impl Pattern {
    fn new(text: &str) -> Self {
        let mut parts = text.split('{');
        let start = parts.next().unwrap_or_default().to_owned();
        let place = |part: &str| part.split_once('}').map(|(name, behind)| (name.to_owned(), behind.to_owned()));
        Self { start, places: parts.filter_map(place).collect() }
    }

    /// The text with a value for each argument. None: a value is missing.
    fn with(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut text = self.start.clone();
        for (name, behind) in &self.places {
            text += &value(name)?;
            text += behind;
        }
        Some(text)
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

    #[test]
    fn a_sentence_gives_its_arguments() {
        let has = Pattern::new("has {count} days; at most {most} are allowed");
        assert_eq!(has.arguments("has 7 days; at most 5 are allowed"), Some(vec![("count", "7"), ("most", "5")]));
        assert_eq!(has.arguments("Has 7 days; at most 5 are allowed").map(|found| found.len()), Some(2));
        for other in ["", "has 7 days", "It has 7 days; at most 5 are allowed", "has 7 days; at most 5 are allowed."] {
            assert_eq!(has.arguments(other), None, "{other}");
        }
        let ends = Pattern::new("“{text}” is {what}");
        assert_eq!(ends.arguments("“” is ü"), Some(vec![("text", ""), ("what", "ü")]));
        assert_eq!(ends.arguments("“é” is no id").unwrap()[0].1, "é");
        assert!(Pattern::new("é is {what}").arguments("è is it").is_none(), "letters of several bytes");
        assert_eq!(Pattern::new("none").arguments("None"), Some(vec![]));
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
        let of_node = Language::Chinese.say("workflow.nodes.load-eu.params: 0 is not allowed; 1 to 100 seconds");
        assert_eq!(of_node, "workflow.nodes.load-eu.params：不允许 0，范围为 1 到 100 秒");
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
        assert!(CHINESE.len() > 200, "{} sentences", CHINESE.len());
        for (english, _) in CHINESE.iter() {
            let mut text = english.start.clone();
            english.places.iter().for_each(|(_, behind)| text.extend(["7", behind]));
            let inner = english.places.split_last().map_or(&[][..], |(_, places)| places);
            assert!(inner.iter().all(|(_, behind)| !behind.is_empty()), "{text}");
            assert!(english.places.is_empty() || english.words() > 4, "{text} fits nearly every text");
            assert!(english.arguments(&text).is_some(), "{text}");
            assert!(in_chinese(&text, 1).is_some(), "{text} cannot be written in Chinese");
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
