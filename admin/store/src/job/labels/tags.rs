//! Tags as one text, for the row that a list reads.

/// Between the tags of a row.
const SEPARATOR: &str = ",";

pub(crate) fn tags_of(text: &str) -> Vec<String> {
    text.split(SEPARATOR).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

pub(crate) fn joined(tags: &[String]) -> String {
    tags.join(SEPARATOR)
}

/// As they are stored: each once, in the order of the alphabet.
pub(crate) fn in_order(tags: &[String]) -> Vec<String> {
    let mut tags = tags.to_vec();
    tags.sort_unstable();
    tags.dedup();
    tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_kept_once_and_in_order() {
        let tags = in_order(&["b", "a", "b"].map(str::to_owned));
        assert_eq!(tags, ["a", "b"]);
        assert_eq!(tags_of(&joined(&tags)), tags);
        assert_eq!(tags_of(""), [""; 0]);
    }
}
