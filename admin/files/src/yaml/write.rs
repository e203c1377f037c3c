//! From JSON to YAML that a person likes to read: block style, texts without quotes where that is safe.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The members of an object in the order that it has, as block style YAML with an end of line.
pub fn write(members: &Map<String, Value>) -> String {
    let mut out = String::new();
    write_members(&mut out, members, 0);
    out
}

fn write_members(out: &mut String, members: &Map<String, Value>, indent: usize) {
    for (name, value) in members {
        let _ = write!(out, "{:indent$}{}:", "", scalar_text(name));
        write_value(out, value, indent);
    }
}

fn write_value(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            out.push('\n');
            write_members(out, members, indent + 2);
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            out.push('\n');
            items.iter().for_each(|item| write_item(out, item, indent + 2));
        }
        Value::String(text) if let Some((chomping, lines)) = as_block(text) => {
            let _ = writeln!(out, " |{chomping}");
            for line in lines {
                match line {
                    "" => out.push('\n'),
                    line => _ = writeln!(out, "{:1$}{line}", "", indent + 2),
                }
            }
        }
        value => _ = writeln!(out, " {}", flow(value)),
    }
}

fn write_item(out: &mut String, item: &Value, indent: usize) {
    match item {
        Value::Object(members) if !members.is_empty() => {
            let mut block = String::new();
            write_members(&mut block, members, indent + 2);
            let _ = write!(out, "{:indent$}- {}", "", &block[indent + 2..]);
        }
        item => _ = writeln!(out, "{:indent$}- {}", "", flow(item)),
    }
}

fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar_text(text),
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// The lines of a text that may stand as a literal block, and the sign for the end of its last line.
fn as_block(text: &str) -> Option<(&'static str, Vec<&str>)> {
    let (chomping, body) = match text.strip_suffix('\n') {
        Some(body) => ("", body),
        None => ("-", text),
    };
    let is_plain = |line: &str| line.chars().all(|c| c == '\t' || is_printable(c)) && !line.ends_with([' ', '\t']);
    let lines: Vec<&str> = body.split('\n').collect();
    let first = lines.first().is_some_and(|line| !line.is_empty() && !line.starts_with([' ', '\t']));
    let last = lines.last().is_some_and(|line| !line.is_empty());
    (text.contains('\n') && first && last && lines.iter().all(|line| is_plain(line))).then_some((chomping, lines))
}

/// A text in quotes, unless it cannot be taken for anything else.
fn scalar_text(text: &str) -> String {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '(' | ')' | ' ');
    let is_safe = text.starts_with(char::is_alphabetic)
        && text.chars().all(is_inner)
        && text.chars().all(is_printable)
        && !text.ends_with(' ')
        && !WORDS.contains(&text.to_lowercase().as_str());
    if is_safe { text.to_owned() } else { quoted(text) }
}

/// In double quotes, with the escapes of JSON, which YAML shares.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_printable(c) => out.push(c),
            c => _ = write!(out, "\\U{:08x}", u32::from(c)),
        }
    }
    out.push('"');
    out
}

/// Neither a control character, nor one that a parser may take for the end of a line or leave out.
fn is_printable(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml::{Content, Node, read};

    fn text_of(node: &Node) -> &str {
        match &node.content {
            Content::Scalar { text, .. } => text,
            other => panic!("{other:?}"),
        }
    }

    fn assert_read_back(text: &str) {
        let written = write(json!({"m": {"a": text, "b": [text], "c": [{"d": text, "e": 1}]}}).as_object().unwrap());
        let Content::Map(root) = read(&written).unwrap_or_else(|fault| panic!("{fault:?}\n{written}")).content else {
            panic!("{written}")
        };
        let Content::Map(members) = &root[0].1.content else { panic!("{written}") };
        assert_eq!(text_of(&members[0].1), text, "{written}");
        let Content::List(items) = &members[1].1.content else { panic!("{written}") };
        assert_eq!(text_of(&items[0]), text, "{written}");
        let Content::List(items) = &members[2].1.content else { panic!("{written}") };
        let Content::Map(inner) = &items[0].content else { panic!("{written}") };
        assert_eq!(text_of(&inner[0].1), text, "{written}");
    }

    #[test]
    fn awkward_texts_are_read_back() {
        for text in [
            "",
            " ",
            "no",
            "012",
            "1.50",
            "~",
            "null",
            "a: b",
            "a #b",
            "- x",
            "*/5 * * * *",
            "@daily",
            "a\nb",
            "a\n\n b\n",
            "\na",
            "a\n\n",
            "a \nb",
            "a\r\nb",
            "\u{2028}",
            "\u{feff}x",
            "\u{0}",
            "\u{7f}",
            "\\",
            "\"",
            "'",
            "日本語",
            "😀 x",
            "a\tb",
            "\ta\nb",
            "---",
            "a\n---\nb",
            "a\n...\nb",
            "#!/bin/sh\nexit 0\n",
            "{}",
            "[",
            "%x",
            "| x",
            "> y",
        ] {
            assert_read_back(text);
        }
    }

    #[test]
    fn a_document_is_written_for_readers() {
        let job = json!({"key": "close-day", "tags": ["a", "b"], "retries": 3, "schedule": {"expression": "0 0 3 * * ?", "kind": "cron"}});
        let written = write(json!({"format": 1, "jobs": [job]}).as_object().unwrap());
        let expected = "format: 1\njobs:\n  - key: close-day\n    retries: 3\n    schedule:\n      expression: \"0 0 3 * * ?\"\n      kind: cron\n    \
             tags: [a, b]\n";
        assert_eq!(written, expected);
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(text in "\\PC*|[ -~\n\t#:'\"]{0,40}|.{0,20}") {
            assert_read_back(&text);
        }
    }
}
