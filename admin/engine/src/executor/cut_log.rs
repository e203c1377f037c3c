//! An answer with a log that is longer than what is read of it: stock executors send the whole rest of a log at once.

use carillon_protocol::LogPage;

/// The lines that were read as a whole, as a page that begins at line `from`. None: there is none.
pub fn page(body: &[u8], from: i64) -> Option<LogPage> {
    let text = String::from_utf8_lossy(body);
    let (_, rest) = text.split_once("\"logContent\"")?;
    let content = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let whole = &content[..last_line_end(content)?];
    let content: String = serde_json::from_str(&format!("\"{whole}\"")).ok()?;
    Some(LogPage { from_line: from, to_line: from, content, is_end: false })
}

/// Where the last `\n` of a JSON text ends, whose own end may be missing.
fn last_line_end(text: &str) -> Option<usize> {
    let (mut found, mut is_escaped) = (None, false);
    for (at, byte) in text.bytes().enumerate() {
        match (is_escaped, byte) {
            (false, b'"') => break,
            (true, b'n') => found = Some(at + 1),
            _ => {}
        }
        is_escaped = !is_escaped && byte == b'\\';
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(body: &str) -> Option<String> {
        page(body.as_bytes(), 7).map(|page| page.content)
    }

    #[test]
    fn whole_lines_are_taken_and_the_last_piece_is_left() {
        let begin = r#"{"code":200,"msg":null,"content":{"fromLineNum":7,"toLineNum":9,"logContent" : ""#;
        let cases = [
            (r"one\ntwo\nthr", Some("one\ntwo\n")),
            (r#"a \"quoted\"\\n word\nn"#, Some("a \"quoted\"\\n word\n")),
            (r"one\ntwo\\", Some("one\n")),
            (r"one\n\u00e9\ncut \u00", Some("one\né\n")),
            (r#"one\ntwo","isEnd":fal\n"#, Some("one\n")),
            ("no end", None),
        ];
        for (content, whole) in cases {
            assert_eq!(lines(&format!("{begin}{content}")).as_deref(), whole, "{content}");
        }
        for other in ["", "{\"code\":200", "{\"logContent\":null", "{\"logContent\""] {
            assert_eq!(lines(other), None, "{other}");
        }
    }
}
