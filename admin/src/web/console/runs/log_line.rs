//! A line of a log as a page shows it: colours become classes, control characters symbols.

use serde::Serialize;

/// A line, in parts of one style each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogLine {
    pub parts: Vec<Part>,
    /// It has a word of an error; the button "Next error" stops here.
    pub is_error: bool,
}

/// A piece of text, and the classes of its style; none where it is plain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    pub class: String,
    pub text: String,
}

/// How a sequence begins: as it is, and as our SDK writes it, which escapes control characters.
const SEQUENCES: [&str; 2] = ["\u{1b}[", "\\x1b["];
/// Their first characters.
const BEGINS: [char; 2] = ['\u{1b}', '\\'];
/// Styles that a line may have one after the other. What follows keeps the last one: each is an element of the page.
const MOST_PARTS: usize = 1_000;

impl LogLine {
    /// Each line starts without a style, since a line is often shown without the lines before it. The line is read once, from its start to its
    /// end: one of a megabyte may have a sequence at every few characters.
    pub fn new(line: &str) -> Self {
        let (mut parts, mut style, mut plain) = (vec![], Style::default(), String::new());
        let mut rest = line;
        while let Some(start) = rest.find(BEGINS) {
            let (before, sequence) = rest.split_at(start);
            plain.push_str(before);
            match style_sequence(sequence) {
                Some((codes, after)) => {
                    if parts.len() < MOST_PARTS {
                        add(&mut parts, &style, &mut plain);
                        style.apply(codes);
                    }
                    rest = after;
                }
                None => {
                    plain.push_str(&sequence[..1]);
                    rest = &sequence[1..];
                }
            }
        }
        plain.push_str(rest);
        add(&mut parts, &style, &mut plain);
        let is_error = parts.iter().any(|part| has_error_word(&part.text));
        Self { parts, is_error }
    }
}

fn add(parts: &mut Vec<Part>, style: &Style, plain: &mut String) {
    if plain.is_empty() {
        return;
    }
    let (class, text) = (style.class(), visible(plain));
    match parts.last_mut().filter(|last| last.class == class) {
        Some(last) => last.text.push_str(&text),
        None => parts.push(Part { class, text }),
    }
    plain.clear();
}

/// The codes of a sequence that sets a style, and what follows it. Every other sequence is shown, not obeyed.
fn style_sequence(text: &str) -> Option<(&str, &str)> {
    let body = SEQUENCES.iter().find_map(|begin| text.strip_prefix(begin))?;
    let end = body.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let (codes, after) = body.split_at(end);
    Some((codes, after.strip_prefix('m')?))
}

/// Without backgrounds and hidden text: they could make text unreadable.
#[derive(Clone, Copy, Default)]
struct Style {
    colour: Option<&'static str>,
    is_bold: bool,
    is_italic: bool,
    is_underlined: bool,
}

impl Style {
    fn apply(&mut self, codes: &str) {
        let mut codes = codes.split(';').map(|code| code.parse::<u8>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match code {
                0 => *self = Self::default(),
                1 => self.is_bold = true,
                3 => self.is_italic = true,
                4 => self.is_underlined = true,
                22 => self.is_bold = false,
                23 => self.is_italic = false,
                24 => self.is_underlined = false,
                30..=37 => self.colour = colour(code - 30),
                90..=97 => self.colour = colour(code - 90 + 8),
                39 => self.colour = None,
                38 | 48 => {
                    let chosen = extended(&mut codes);
                    if code == 38 {
                        self.colour = chosen.and_then(colour);
                    }
                }
                _ => {}
            }
        }
    }

    fn class(self) -> String {
        let words = [
            self.colour,
            self.is_bold.then_some("ansi-bold"),
            self.is_italic.then_some("ansi-italic"),
            self.is_underlined.then_some("ansi-underline"),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// Black and white are the colour of the text.
fn colour(number: u8) -> Option<&'static str> {
    match number {
        1 | 9 => Some("ansi-red"),
        2 | 10 => Some("ansi-green"),
        3 | 11 => Some("ansi-yellow"),
        4 | 12 => Some("ansi-blue"),
        5 | 13 => Some("ansi-magenta"),
        6 | 14 => Some("ansi-cyan"),
        8 => Some("ansi-gray"),
        _ => None,
    }
}

/// The number of `5;n`; of `2;r;g;b` nothing, but its members are passed over.
fn extended(codes: &mut impl Iterator<Item = u8>) -> Option<u8> {
    match codes.next()? {
        5 => codes.next(),
        2 => codes.by_ref().take(3).last().and(None),
        _ => None,
    }
}

const ERROR_WORDS: &[&str] = &["critical", "failed", "failure", "fatal", "panic", "panicked", "severe", "traceback"];

/// `error`, `NullPointerException`, `failed`: whole words in any case.
fn has_error_word(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() < 100).any(|word| {
        let word = word.to_ascii_lowercase();
        word.ends_with("error") || word.ends_with("exception") || ERROR_WORDS.contains(&word.as_str())
    })
}

/// Shows control characters as symbols: a log must not be able to move the cursor or hide text.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => c,
            '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
            '\u{7f}' => '\u{2421}',
            c if c.is_control() => '\u{fffd}',
            // They change the direction of the text that follows.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Vec<(String, String)> {
        LogLine::new(line).parts.into_iter().map(|part| (part.class, part.text)).collect()
    }

    fn part(class: &str, text: &str) -> (String, String) {
        (class.to_owned(), text.to_owned())
    }

    // covers: S28, S32
    #[test]
    fn control_characters_are_seen_not_obeyed() {
        assert_eq!(visible("a\tb\u{1b}\u{7f}\u{202e}x"), "a\tb␛␡\u{fffd}x");
        assert_eq!(parts("<script>你好"), [part("", "<script>你好")]);
        assert_eq!(parts("a\u{1b}[2Jb\u{1b}[1;5Hc\u{1b}]0;t\u{7}"), [part("", "a␛[2Jb␛[1;5Hc␛]0;t␇")]);
        assert_eq!(parts("end\u{1b}["), [part("", "end␛[")]);
        assert_eq!(parts(r"a\x1b[2Jb\x1b["), [part("", r"a\x1b[2Jb\x1b[")]);
        assert_eq!(parts(""), []);
    }

    #[test]
    fn colours_become_classes() {
        let red = part("ansi-red", "red");
        assert_eq!(parts("a \u{1b}[31mred\u{1b}[0m b"), [part("", "a "), red.clone(), part("", " b")]);
        assert_eq!(parts("\u{1b}[1;91mred\u{1b}[22mred"), [part("ansi-red ansi-bold", "red"), red.clone()]);
        assert_eq!(parts(r"\x1b[31mred"), std::slice::from_ref(&red), "as our SDK writes it");
        assert_eq!(parts("\u{1b}[38;5;1mred\u{1b}[mx"), [red, part("", "x")]);
        assert_eq!(parts("\u{1b}[38;2;1;2;3mx"), [part("", "x")], "the members of a colour are no codes");
        assert_eq!(parts("\u{1b}[31;48;5;4;4mred"), [part("ansi-red ansi-underline", "red")]);
        assert_eq!(parts("\u{1b}[8;30;47mseen"), [part("", "seen")], "nothing can be hidden");
        assert_eq!(parts("\u{1b}[31mred\u{1b}[3"), [part("ansi-red", "red␛[3")], "a sequence without its end");
        assert_eq!(parts("a\u{1b}[mb\u{1b}[0mc"), [part("", "abc")], "one style is one part");
    }

    // covers: S28
    #[test]
    fn a_long_line_has_few_parts_whatever_is_in_it() {
        for unit in ["\u{1b}[31mx\u{1b}[32my", r"\x1b[31mx\x1b[32my", "\u{1b}[", "\\", "\u{1b}[1;", "x"] {
            let line = LogLine::new(&unit.repeat((1 << 20) / unit.len()));
            assert!(line.parts.len() <= MOST_PARTS + 1, "{unit}: {} parts", line.parts.len());
        }
        let many = LogLine::new(&"\u{1b}[31mx\u{1b}[32my".repeat(MOST_PARTS));
        let text: usize = many.parts.iter().map(|part| part.text.len()).sum();
        assert_eq!((text, many.parts.len()), (2 * MOST_PARTS, MOST_PARTS + 1), "nothing of the text is lost");
    }

    #[test]
    fn errors_are_found_by_their_words() {
        for line in ["ERROR: disk full", "java.lang.NullPointerException", "it failed", "\u{1b}[31mFatal\u{1b}[0m"] {
            assert!(LogLine::new(line).is_error, "{line}");
        }
        for line in ["0 errors", "a mirror", "fine", "terrors"] {
            assert!(!LogLine::new(line).is_error, "{line}");
        }
    }
}
