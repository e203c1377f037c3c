//! The texts in Rust sources, as far as it takes no compiler to find them.

/// A text in quotes.
#[derive(Debug, PartialEq, Eq)]
pub struct Literal {
    /// The byte at which it begins.
    pub at: usize,
    pub text: String,
}

/// The texts of a source, and the source with blanks for them, for letters in quotes and for comments.
pub fn literals(source: &str) -> (Vec<Literal>, String) {
    let (mut found, mut code, mut at) = (vec![], String::with_capacity(source.len()), 0);
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let length = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '\'' => letter(rest).unwrap_or(0),
            '"' => {
                let (text, length) = quoted(rest);
                found.push(Literal { at, text });
                length
            }
            'r' if !code.ends_with(|c: char| c.is_alphanumeric() || c == '_') => match raw(rest) {
                Some((text, length)) => {
                    found.push(Literal { at, text: text.to_owned() });
                    length
                }
                None => 0,
            },
            _ => 0,
        };
        match length {
            0 => code.push(c),
            _ => code.extend(std::iter::repeat_n(' ', length)),
        }
        at += if length == 0 { c.len_utf8() } else { length };
    }
    (found, code)
}

/// The length of a letter in quotes. None: the quote begins the name of a lifetime.
fn letter(source: &str) -> Option<usize> {
    let end = match source.strip_prefix("'\\") {
        Some(escaped) => 3 + escaped[1..].find('\'')?,
        None => 1 + source[1..].chars().next()?.len_utf8(),
    };
    (end < 13 && source[end..].starts_with('\'')).then_some(end + 1)
}

fn quoted(source: &str) -> (String, usize) {
    let (mut text, mut letters) = (String::new(), source.char_indices().skip(1).peekable());
    while let Some((at, c)) = letters.next() {
        match c {
            '"' => return (text, at + 1),
            '\\' => match letters.next().map(|it| it.1) {
                Some('\n') => while letters.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('u') => {
                    letters.by_ref().find(|(_, c)| *c == '}');
                }
                Some(other) => text.push(other),
                None => {}
            },
            _ => text.push(c),
        }
    }
    (text, source.len())
}

/// `r"…"` and `r#"…"#`.
fn raw(source: &str) -> Option<(&str, usize)> {
    let marks = source[1..].chars().take_while(|c| *c == '#').count();
    let begin = 1 + marks + 1;
    let text = source[1 + marks..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks));
    let length = text.find(&end)?;
    Some((&text[..length], begin + length + end.len()))
}

#[test]
fn texts_of_a_source_are_found() {
    let source = "let a = 'x'; // \"no\"\nf::<'a>(\"b\\\"\\\n   c\", '\"', r#\"d\"e\"#, '\\n', b'\\'', \"é\");";
    let (found, code) = literals(source);
    let texts: Vec<&str> = found.iter().map(|it| &*it.text).collect();
    assert_eq!(texts, ["b\"c", "d\"e", "é"]);
    assert_eq!(code.len(), source.len());
    assert!(found.iter().all(|it| code[it.at..].starts_with(' ')));
    assert!(code.contains("f::<'a>("), "{code}");
}
