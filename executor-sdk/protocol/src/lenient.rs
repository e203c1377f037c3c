//! Texts that JSON does not allow and Java's admin reads all the same (Gson's lenient reader): executors send what their jobs print.

/// The same body as JSON, where it is only its texts that are not: bytes that are no UTF-8 and surrogates without a partner become
/// U+FFFD, control characters are escaped, and texts in single quotes get double ones.
pub(crate) fn repaired(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let mut reader =
        Reader { rest: text.trim_start_matches('\u{feff}'), written: String::with_capacity(text.len() + 64) };
    while let Some(c) = reader.next() {
        match c {
            '"' | '\'' => reader.text(c),
            other => reader.written.push(other),
        }
    }
    reader.written
}

struct Reader<'a> {
    rest: &'a str,
    written: String,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    /// After the quote that starts a text, up to the one that ends it. A text without an end stays without one.
    fn text(&mut self, quote: char) {
        self.written.push('"');
        while let Some(c) = self.next() {
            match c {
                _ if c == quote => return self.written.push('"'),
                '"' => self.written.push_str("\\\""),
                '\\' => self.escape(),
                '\0'..='\u{1f}' => self.control(c),
                other => self.written.push(other),
            }
        }
    }

    fn control(&mut self, c: char) {
        self.written.push_str(&format!("\\u{:04x}", u32::from(c)));
    }

    /// After a backslash.
    fn escape(&mut self) {
        match self.next() {
            Some('u') => self.unit(),
            Some('\'') => self.written.push('\''),
            Some(c @ '\0'..='\u{1f}') => self.control(c),
            Some(c) => self.written.extend(['\\', c]),
            None => {}
        }
    }

    /// After `\u`: a unit of UTF-16, with its partner if it needs one.
    fn unit(&mut self) {
        let Some(unit) = hex(self.rest) else {
            self.written.push_str("\\u");
            return;
        };
        let (first, rest) = self.rest.split_at(4);
        let partner =
            rest.strip_prefix("\\u").filter(|rest| hex(rest).is_some_and(|unit| (0xdc00..0xe000).contains(&unit)));
        let (is_high, is_low) = ((0xd800..0xdc00).contains(&unit), (0xdc00..0xe000).contains(&unit));
        match partner {
            Some(second) if is_high => {
                self.written.push_str(&format!("\\u{first}\\u{}", &second[..4]));
                self.rest = &second[4..];
                return;
            }
            _ if is_high || is_low => self.written.push('\u{fffd}'),
            _ => self.written.push_str(&format!("\\u{first}")),
        }
        self.rest = rest;
    }
}

fn hex(text: &str) -> Option<u32> {
    let digits = text.get(..4).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// The start of a JSON text whose end may be missing, decoded as far as it is whole.
pub(crate) fn start_of_text(text: &str) -> String {
    // An escape that is cut is at most eleven bytes: a pair of surrogates but for its last digit.
    for missing in 0..12 {
        let end = text.len().saturating_sub(missing);
        if text.is_char_boundary(end)
            && let Ok(decoded) = serde_json::from_str::<String>(&repaired(format!("\"{}\"", &text[..end]).as_bytes()))
        {
            return decoded;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(json: &[u8]) -> String {
        serde_json::from_str(&repaired(json)).unwrap_or_else(|error| panic!("{}: {error}", repaired(json)))
    }

    // covers: R059, R060, R061, R073
    #[test]
    fn a_text_that_json_does_not_allow_is_read_as_java_reads_it() {
        assert_eq!(decoded(b"\"a\nb\tc\x01\""), "a\nb\tc\u{1}");
        assert_eq!(decoded(b"\"\xd6\xd0\xce\xc4\""), "\u{fffd}".repeat(4), "GBK");
        assert_eq!(decoded(br#""caf\udce9 \ud83d! \ud83d\ude00 \u00e9""#), "caf\u{fffd} \u{fffd}! \u{1f600} é");
        assert_eq!(decoded(br#"'it\'s "so"'"#), "it's \"so\"");
        assert_eq!(decoded(br#""it's \"so\" \\""#), "it's \"so\" \\", "what is JSON stays as it is");
        let list: serde_json::Value = serde_json::from_str(&repaired(b"[{'logId':1,'handleCode':200}]")).unwrap();
        assert_eq!(list, serde_json::json!([{"logId": 1, "handleCode": 200}]));
    }

    #[test]
    fn what_is_no_text_is_not_repaired() {
        for broken in ["{\"a\":}", "[1,]", "\"\\q\"", "\"\\u12\"", "{a:1}"] {
            assert!(serde_json::from_str::<serde_json::Value>(&repaired(broken.as_bytes())).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_start_of_a_text_is_decoded_as_far_as_it_is_whole() {
        for (text, whole) in
            [("abc", "abc"), ("a\\", "a"), ("a\\u00", "a"), ("a\\ud83d\\ude0", "a\u{fffd}"), ("é\\n", "é\n"), ("", "")]
        {
            assert_eq!(start_of_text(text), whole, "{text}");
        }
    }
}
