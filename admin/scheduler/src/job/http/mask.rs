//! Texts without secrets. A text is searched as it is and as what it would be without the escapes of JSON and of URLs, so a secret is found
//! in each spelling in which a service may repeat it: `\/`, `\u00e9`, `%2f`, `+` for a blank, and JSON within JSON.

use std::ops::Range;

/// What stands in place of a secret.
const MASK: &str = "***";

/// Bytes of a secret that are masked where a text is cut, at least. A mask in place of fewer would tell, one after another, how a secret begins.
const LEAST_BEGINNING: usize = 8;

/// Bytes of the longest escape, of which a cut may leave a part.
const LONGEST_ESCAPE: usize = 12;

/// The text with `***` in place of these secrets.
pub fn masked(text: &str, secrets: &[String]) -> String {
    mask(text, secrets, false)
}

/// The same of the beginning of a longer text: its end may be the beginning of a secret.
pub fn masked_cut(text: &str, secrets: &[String]) -> String {
    mask(text, secrets, true)
}

fn mask(text: &str, secrets: &[String], is_cut: bool) -> String {
    if secrets.iter().all(String::is_empty) {
        return text.to_owned();
    }
    let mut found = vec![];
    for layer in layers(text) {
        for secret in secrets {
            layer.find(secret.as_bytes(), &mut found);
            if is_cut {
                layer.find_beginning(secret.as_bytes(), &mut found);
            }
        }
    }
    without(text, found)
}

/// The text and its decoded forms; those that would be the same are left out.
fn layers(text: &str) -> Vec<Layer> {
    let plain = Layer::of(text);
    let json = plain.decoded(b"\\", json_escape);
    let twice = json.as_ref().and_then(|json| json.decoded(b"\\", json_escape));
    let url = plain.decoded(b"%", percent_escape);
    let form = plain.decoded(b"%+", |bytes| plus(bytes).or_else(|| percent_escape(bytes)));
    [Some(plain), json, twice, url, form].into_iter().flatten().collect()
}

/// Bytes with the places in the text that they stand for.
struct Layer {
    bytes: Vec<u8>,
    /// Where each byte begins in the text, and at last where the text ends.
    starts: Vec<u32>,
}

/// What an escape stands for, and how many bytes it has.
type Escape = (Vec<u8>, usize);

impl Layer {
    fn of(text: &str) -> Self {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        Self { bytes: text.as_bytes().to_vec(), starts: (0..=length).collect() }
    }

    /// None: it has none of the bytes with which an escape begins. What is no escape stays as it is.
    fn decoded(&self, marks: &[u8], escape: impl Fn(&[u8]) -> Option<Escape>) -> Option<Self> {
        let first = self.bytes.iter().position(|byte| marks.contains(byte))?;
        let (mut bytes, mut starts) = (self.bytes[..first].to_vec(), self.starts[..first].to_vec());
        let mut at = first;
        while at < self.bytes.len() {
            let is_mark = marks.contains(&self.bytes[at]);
            match is_mark.then(|| escape(&self.bytes[at..])).flatten() {
                Some((value, length)) => {
                    starts.extend(value.iter().map(|_| self.starts[at]));
                    bytes.extend(value);
                    at += length;
                }
                None => {
                    starts.push(self.starts[at]);
                    bytes.push(self.bytes[at]);
                    at += 1;
                }
            }
        }
        starts.extend(self.starts.last());
        Some(Self { bytes, starts })
    }

    /// Adds the places of a secret.
    fn find(&self, secret: &[u8], found: &mut Vec<Range<usize>>) {
        let Some(first) = secret.first() else { return };
        let mut from = 0;
        while let Some(step) = self.bytes[from..].iter().position(|byte| byte == first) {
            let (begin, end) = (from + step, from + step + secret.len());
            from = begin + 1;
            if self.bytes[begin..].starts_with(secret) {
                found.push(self.starts[begin] as usize..self.starts[end] as usize);
            }
        }
    }

    /// Adds the last part of the text if a secret begins there, also if a part of an escape follows.
    fn find_beginning(&self, secret: &[u8], found: &mut Vec<Range<usize>>) {
        let length = self.bytes.len();
        let ends = length.saturating_sub(LONGEST_ESCAPE)..=length;
        let begins = |end: usize| {
            let first = end.saturating_sub(secret.len());
            let last = (end + 1).saturating_sub(LEAST_BEGINNING);
            (first..last).find(|begin| secret.starts_with(&self.bytes[*begin..end]))
        };
        if let Some(begin) = ends.filter_map(begins).min() {
            found.push(self.starts[begin] as usize..self.starts[length] as usize);
        }
    }
}

/// Parts that overlap become one.
fn without(text: &str, mut found: Vec<Range<usize>>) -> String {
    found.sort_unstable_by_key(|part| (part.start, part.end));
    let (mut shown, mut at) = (String::with_capacity(text.len()), 0);
    let mut parts = found.into_iter().peekable();
    while let Some(mut part) = parts.next() {
        while let Some(next) = parts.next_if(|next| next.start < part.end) {
            part.end = part.end.max(next.end);
        }
        shown.push_str(&text[at..text.floor_char_boundary(part.start).max(at)]);
        shown.push_str(MASK);
        at = text.ceil_char_boundary(part.end);
    }
    shown + &text[at..]
}

fn json_escape(bytes: &[u8]) -> Option<Escape> {
    let simple = |byte| Some((vec![byte], 2));
    match *bytes.get(1)? {
        b'n' => simple(b'\n'),
        b'r' => simple(b'\r'),
        b't' => simple(b'\t'),
        b'b' => simple(0x08),
        b'f' => simple(0x0c),
        byte @ (b'"' | b'\\' | b'/') => simple(byte),
        b'u' => unicode_escape(bytes),
        _ => None,
    }
}

/// `\u00e9`, or two of them for a character beyond U+FFFF.
fn unicode_escape(bytes: &[u8]) -> Option<Escape> {
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::try_from(hex(digits)?).ok()
    };
    let first = unit(0)?;
    let pair = unit(6).map(|second| [first, second]);
    let of_pair = pair.and_then(|pair| char::decode_utf16(pair).next()?.ok());
    let (value, length) = match char::from_u32(first.into()) {
        Some(value) => (value, 6),
        None => (of_pair?, 12),
    };
    Some((value.to_string().into_bytes(), length))
}

fn percent_escape(bytes: &[u8]) -> Option<Escape> {
    let digits = bytes.strip_prefix(b"%")?.get(..2)?;
    Some((vec![u8::try_from(hex(digits)?).ok()?], 3))
}

fn plus(bytes: &[u8]) -> Option<Escape> {
    bytes.starts_with(b"+").then(|| (vec![b' '], 1))
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |value, digit| Some(value * 16 + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-44
    #[test]
    fn a_secret_is_masked_in_each_of_its_spellings() {
        let secrets = ["s/\"1 é🚀+x".to_owned(), "s/\"1 é🚀+x2".to_owned()];
        for spelled in [
            "s/\"1 é🚀+x",
            "s/\"1 é🚀+x2",
            r#"s/\"1 é🚀+x"#,
            r#"s\/\"1 \u00e9\ud83d\ude80+x"#,
            r#"s\u002F\u00221 \u00E9\uD83D\uDE80+x2"#,
            r#"s/\\\"1 é🚀+x"#,
            "s%2F%221%20%C3%A9%F0%9F%9A%80%2Bx",
            "s%2f%221%20%c3%a9%f0%9f%9a%80%2bx2",
            "s/%221+%C3%A9%f0%9f%9a%80%2Bx",
            "s/%221%20é🚀+x",
        ] {
            let text = format!("é {spelled}, {spelled} \\u12 %4 \\");
            assert_eq!(masked(&text, &secrets), "é ***, *** \\u12 %4 \\", "{spelled}");
        }
    }

    // covers: 001-44
    #[test]
    fn the_beginning_of_a_secret_at_a_cut_is_masked() {
        let secrets = ["pass\"word é1".to_owned()];
        for end in ["pass\"wor", "pass\"word ", "pass\\\"word \\u00", "pass%22wor", "pass%22word%2"] {
            let shown = masked_cut(&format!("0123456789abcdef {end}"), &secrets);
            assert_eq!(shown, "0123456789abcdef ***", "{end}");
        }
        assert_eq!(masked_cut("pass\"word é1, 0123456789abcdef", &secrets), "***, 0123456789abcdef");
        assert_eq!(masked_cut("", &secrets), "");
        for guess in ["p", "pass", "pass\"wo", "pass%22wo", "past\"wor"] {
            assert_eq!(masked_cut(guess, &secrets), guess, "too little of it to tell that it is its beginning");
        }
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        let text = r#"{"a": "\/\u00e9%2f+\ud83d", "é": "***"}"#;
        assert_eq!(masked(text, &["password".to_owned()]), text);
        assert_eq!(masked(text, &[]), text);
        assert_eq!(masked("aXbXc", &["X".to_owned(), String::new()]), "a***b***c");
        assert_eq!(masked("XX", &["X".to_owned()]), "******");
    }
}
