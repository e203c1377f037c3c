//! Texts from outside, as every database takes them.

/// Kept of a result's text, in bytes.
const MESSAGE_LIMIT: usize = 64 * 1024;

/// Bytes of the longest character, which a cut leaves whole.
const MOST_OF_CHARACTER: usize = 4;

/// What stands at the end of a text that was cut.
pub const CUT: &str = "… [cut at 65536 bytes]";

/// PostgreSQL takes no NUL in text; what is longer than the limit says so at its end.
pub fn printable(message: &str) -> String {
    let clean = message.replace('\0', "\u{2400}");
    if clean.len() <= MESSAGE_LIMIT {
        return clean;
    }
    let end = clean.floor_char_boundary(MESSAGE_LIMIT);
    format!("{}{CUT}", &clean[..end])
}

/// The text that [`printable`] has left of a longer one. None: it has left the whole text, which may end in the same words.
pub fn before_cut(text: &str) -> Option<&str> {
    text.strip_suffix(CUT).filter(|kept| kept.len() > MESSAGE_LIMIT - MOST_OF_CHARACTER)
}

/// The beginning of a text, which says so where it is cut.
pub fn cut(text: &str, bytes: usize) -> String {
    let end = text.floor_char_boundary(bytes);
    match end < text.len() {
        true => format!("{}…", &text[..end]),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-33
    #[test]
    fn a_message_over_the_limit_is_cut_and_says_so() {
        let long = "é".repeat(MESSAGE_LIMIT);
        let kept = printable(&long);
        assert!(kept.len() < MESSAGE_LIMIT + 64 && kept.ends_with("bytes]"), "{}", kept.len());
        assert_eq!(before_cut(&kept).map(str::len), Some(MESSAGE_LIMIT));
        assert_eq!(before_cut("a"), None);
        assert_eq!(before_cut(&format!("a{CUT}")), None, "the text itself says so");
        let uneven = printable(&format!("a{}", "🚀".repeat(MESSAGE_LIMIT / 4)));
        assert_eq!(before_cut(&uneven).map(str::len), Some(MESSAGE_LIMIT - 3));
        assert!(kept.ends_with(&format!("… [cut at {MESSAGE_LIMIT} bytes]")));
        assert_eq!(printable("a\0b"), "a\u{2400}b");
    }
}
