//! What users note of a job: key, description, owner and tags.

use super::draft::JobDraft;
use super::limits::{DESCRIPTION_CHARS, KEY_CHARS, OWNER_CHARS, TAG_CHARS, TAGS};
use crate::checks::check_line;

/// A member that is one line of text for people: the server checks, keeps and shows it, and nothing else reads it.
#[derive(Debug, Clone, Copy)]
pub struct Note {
    /// The name of the member, of its column and of its field; the key of its label.
    pub member: &'static str,
    /// Maximum number of characters.
    pub max_chars: usize,
    get: fn(&JobDraft) -> &String,
    get_mut: fn(&mut JobDraft) -> &mut String,
}

/// All notes of a job, in the order of its page. A new one is a member of [`JobDraft`] and a row here.
pub const NOTES: &[Note] =
    &[Note { member: "owner", max_chars: OWNER_CHARS, get: |draft| &draft.owner, get_mut: |draft| &mut draft.owner }];

impl Note {
    /// Its text; empty: there is none.
    pub fn of(self, draft: &JobDraft) -> &str {
        (self.get)(draft)
    }

    /// Gives the job this text.
    pub fn set(self, draft: &mut JobDraft, text: String) {
        *(self.get_mut)(draft) = text;
    }

    pub(super) fn check(self, draft: &JobDraft) -> Result<(), String> {
        check_line(self.of(draft), 0..=self.max_chars)
    }
}

/// Checks a key of a job or the name of a set of files: empty, or at most 64 lower case letters, digits, `-`, `_` and `.`.
///
/// # Errors
/// Says which rule is broken.
pub fn check_key(key: &str) -> Result<(), String> {
    match key.chars().count() {
        count if count > KEY_CHARS => Err(format!("has {count} characters; at most {KEY_CHARS} are allowed")),
        _ => match key.chars().find(|&c| !is_word_char(c)) {
            Some(wrong) => {
                Err(format!("{wrong:?} is not allowed; a key has lower case letters, digits, `-`, `_` and `.`"))
            }
            None => Ok(()),
        },
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.')
}

/// Checks a description: text of several lines.
///
/// # Errors
/// Says which limit is exceeded.
pub(super) fn check_description(text: &str) -> Result<(), String> {
    match text.trim().chars().count() {
        count if count > DESCRIPTION_CHARS => {
            Err(format!("has {count} characters; at most {DESCRIPTION_CHARS} are allowed"))
        }
        _ if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) => {
            Err("must not contain control characters other than line ends and tabs".to_owned())
        }
        _ => Ok(()),
    }
}

pub(super) fn check_tags(tags: &[String]) -> Result<(), String> {
    if tags.len() > TAGS {
        return Err(format!("has {} tags; at most {TAGS} are allowed", tags.len()));
    }
    tags.iter().try_for_each(|tag| check_tag(tag))
}

/// Checks a tag: 1 to 32 lower case letters, digits, `-`, `_` and `.`.
///
/// # Errors
/// Says which rule is broken.
pub fn check_tag(tag: &str) -> Result<(), String> {
    match tag.chars().count() {
        0 => Err("a tag must not be empty".to_owned()),
        count if count > TAG_CHARS => Err(format!("a tag has 1 to {TAG_CHARS} characters, {tag:.40?} has {count}")),
        _ => match tag.chars().find(|&c| !is_word_char(c)) {
            Some(wrong) => Err(format!(
                "{wrong:?} is not allowed in {tag:?}; a tag has lower case letters, digits, `-`, `_` and `.`"
            )),
            None => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::ScheduleContext;

    #[test]
    fn a_wrong_key_is_answered_with_what_is_allowed() {
        for fine in ["", "close-day", "xxl-17", "eu.west_2", &"k".repeat(64)] {
            assert_eq!(check_key(fine), Ok(()));
        }
        let wrong = "'D' is not allowed; a key has lower case letters, digits, `-`, `_` and `.`";
        assert_eq!(check_key("Day").unwrap_err(), wrong);
        assert_eq!(check_key(&"k".repeat(65)).unwrap_err(), "has 65 characters; at most 64 are allowed");
    }

    #[test]
    fn a_wrong_tag_is_named_with_what_is_allowed() {
        for fine in ["a", "billing", "tier-1", "eu.west_2"] {
            assert_eq!(check_tag(fine), Ok(()));
        }
        assert!(
            check_tag("Billing").unwrap_err().starts_with("'B' is not allowed in \"Billing\"; a tag has lower case")
        );
        assert!(check_tag("a,b").is_err() && check_tag("").is_err() && check_tag("ä").is_err());
        assert!(check_tag(&"a".repeat(33)).unwrap_err().contains("has 33"));
        let many: Vec<String> = (0..11).map(|index| format!("t{index}")).collect();
        assert_eq!(check_tags(&many).unwrap_err(), "has 11 tags; at most 10 are allowed");
    }

    #[test]
    fn a_description_may_have_lines() {
        assert_eq!(check_description("one\r\ntwo\tthree"), Ok(()));
        assert!(check_description("\0").is_err());
        assert!(check_description(&"x".repeat(1_001)).is_err());
    }

    #[test]
    fn each_note_is_the_member_that_it_names_and_one_line() {
        for note in NOTES {
            let checked = |text: &str| {
                let mut draft = JobDraft::new("billing", "Close", "close");
                note.set(&mut draft, text.to_owned());
                assert_eq!(serde_json::to_value(&draft).unwrap()[note.member], text);
                let spec = draft.validate(&ScheduleContext::default(), None, 0);
                spec.map(|spec| note.of(&spec.normal(&draft)).to_owned())
            };
            let longest = "ä".repeat(note.max_chars);
            assert_eq!(checked(""), Ok(String::new()));
            assert_eq!(checked(&format!(" {longest} ")), Ok(longest.clone()));
            for wrong in [format!("{longest}x"), "a\nb".to_owned()] {
                let errors = checked(&wrong).unwrap_err();
                assert_eq!(errors.iter().map(|error| &*error.field).collect::<Vec<_>>(), [note.member]);
            }
        }
    }
}
