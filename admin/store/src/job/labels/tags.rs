//! Tags as one text, for the row that a list reads.

/// Between the tags of a row.
const SEPARATOR: &str = ",";

pub(crate) fn tags_of(text: &str) -> Vec<String> {
    text.split(SEPARATOR).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

pub(crate) fn joined(tags: &[String]) -> String {
    tags.join(SEPARATOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_one_text() {
        let tags = ["a", "b"].map(str::to_owned);
        assert_eq!(tags_of(&joined(&tags)), tags);
        assert_eq!(tags_of(""), [""; 0]);
    }
}
