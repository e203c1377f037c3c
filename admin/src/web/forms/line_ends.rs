//! Line ends of long texts. A browser sends each as CR LF, whatever the text had before.

/// What was sent, with the line ends of the original where nothing else differs; otherwise with LF alone.
pub fn kept(sent: &str, original: &str) -> String {
    let plain = plain(sent);
    match plain == self::plain(original) {
        true => original.to_owned(),
        false => plain,
    }
}

/// The text with LF alone.
pub fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_sent_unchanged_stays_as_it_was() {
        for original in ["a\r\nb", "a\nb", "a\rb\nc\r\n", ""] {
            let sent = plain(original).replace('\n', "\r\n");
            assert_eq!(kept(&sent, original), original);
        }
        assert_eq!(kept("a\r\nc", "a\r\nb"), "a\nc");
    }
}
