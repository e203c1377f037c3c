//! The words of a command as bash has them: quotes, `$'…'`, and lines that end with a backslash.
//!
//! `shlex` splits and unquotes. Before that, `$'…'` becomes an ordinary quote, and what a shell would do beside quoting is refused.

use std::iter::Peekable;
use std::str::Chars;

use super::quotes::ansi_quoted;

/// Variables that are named; a line with more of them is no request.
const MOST_VARIABLES: usize = 50;
/// Characters of the name of a variable.
const VARIABLE_CHARS: usize = 64;

/// The words of a command.
pub(super) struct Words {
    pub words: Vec<String>,
    /// Variables that a shell would replace, as they are written: `$TOKEN`. They stand in the words.
    pub variables: Vec<String>,
}

/// The words, or all faults at once.
pub(super) fn words(text: &str) -> Result<Words, Vec<String>> {
    let mut scan = Scan::new(text);
    if !scan.run() {
        scan.add("has a quotation mark that is not closed".to_owned());
    }
    if scan.has_cmd_escapes {
        // The other faults follow from it.
        return Err(vec!["has the escapes (^) of the Windows command prompt; copy it as cURL (bash)".to_owned()]);
    }
    match shlex::split(&scan.plain) {
        Some(words) if scan.faults.is_empty() => Ok(Words { words, variables: scan.variables }),
        _ => Err(scan.faults),
    }
}

struct Scan<'a> {
    chars: Peekable<Chars<'a>>,
    /// For `shlex`.
    plain: String,
    variables: Vec<String>,
    faults: Vec<String>,
    has_cmd_escapes: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Self {
        let chars = text.chars().peekable();
        Self { chars, plain: String::new(), variables: vec![], faults: vec![], has_cmd_escapes: false }
    }

    /// False: a quotation mark is not closed.
    fn run(&mut self) -> bool {
        while let Some(c) = self.chars.next() {
            let is_closed = match c {
                '\'' => self.single_quoted(),
                '"' => self.double_quoted(),
                '$' if self.chars.next_if_eq(&'\'').is_some() => self.dollar_quoted(),
                // A text that a shell would translate.
                '$' if self.chars.peek() == Some(&'"') => true,
                _ => {
                    self.unquoted(c);
                    true
                }
            };
            if !is_closed {
                return false;
            }
        }
        true
    }

    fn unquoted(&mut self, c: char) {
        match c {
            '\\' => self.escaped(),
            '$' => self.dollar(),
            '`' => self.add_command(),
            '|' | ';' | '&' | '<' | '>' | '(' | ')' => self.add(format!(
                "has `{c}` outside of quotation marks; write the URL in them, and leave out further commands"
            )),
            '#' if self.plain.chars().next_back().is_none_or(char::is_whitespace) => self.skip_comment(),
            '^' if self.is_at_line_end() || self.chars.peek() == Some(&'"') => self.has_cmd_escapes = true,
            _ => self.plain.push(c),
        }
    }

    /// Whether at most blanks are left on the line.
    fn is_at_line_end(&self) -> bool {
        matches!(self.chars.clone().find(|c| !matches!(c, ' ' | '\t')), None | Some('\n'))
    }

    /// A backslash at the end of a line goes on with the next line, also where blanks stand behind it.
    fn escaped(&mut self) {
        if self.is_at_line_end() {
            while self.chars.next().is_some_and(|c| c != '\n') {}
            return;
        }
        self.plain.push('\\');
        self.plain.extend(self.chars.next());
    }

    fn skip_comment(&mut self) {
        while self.chars.next_if(|c| *c != '\n').is_some() {}
    }

    fn single_quoted(&mut self) -> bool {
        self.plain.push('\'');
        for c in self.chars.by_ref() {
            self.plain.push(c);
            if c == '\'' {
                return true;
            }
        }
        false
    }

    fn double_quoted(&mut self) -> bool {
        self.plain.push('"');
        while let Some(c) = self.chars.next() {
            match c {
                '"' => {
                    self.plain.push('"');
                    return true;
                }
                '\\' => {
                    self.plain.push('\\');
                    self.plain.extend(self.chars.next());
                }
                '$' => self.dollar(),
                '`' => self.add_command(),
                _ => self.plain.push(c),
            }
        }
        false
    }

    fn dollar_quoted(&mut self) -> bool {
        let (text, is_closed) = ansi_quoted(&mut self.chars);
        let quoted = text.and_then(|text| Some(shlex::Quoter::new().allow_nul(true).quote(&text).ok()?.into_owned()));
        match quoted {
            Some(quoted) => self.plain.push_str(&quoted),
            None => self.add("has an escape in `$'…'` that is not a character".to_owned()),
        }
        is_closed
    }

    /// Behind a dollar sign: a command, a variable, or nothing of the two.
    fn dollar(&mut self) {
        let is_in_name = |c: &char| *c == '_' || c.is_ascii_alphanumeric();
        let ahead = self.chars.clone().take(VARIABLE_CHARS);
        match self.chars.peek() {
            Some('(') => self.add_command(),
            Some('{') => {
                let name: String = ahead.take_while(|c| *c != '}').collect();
                self.add_variable(format!("${name}}}"));
            }
            Some(c) if is_in_name(c) => {
                let name: String = ahead.take_while(is_in_name).collect();
                self.add_variable(format!("${name}"));
            }
            _ => {}
        }
        self.plain.push('$');
    }

    fn add_variable(&mut self, name: String) {
        if self.variables.len() < MOST_VARIABLES && !self.variables.contains(&name) {
            self.variables.push(name);
        }
    }

    fn add_command(&mut self) {
        self.add("has a command of the shell in `$(…)` or backquotes; write its result in its place".to_owned());
    }

    /// Each fault once.
    fn add(&mut self, fault: String) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_bash() {
        for (text, expected) in [
            ("curl  a\tb", &["curl", "a", "b"][..]),
            ("curl 'a b' \"c d\" e\\ f 'g'\"h\"i", &["curl", "a b", "c d", "e f", "ghi"]),
            ("curl a \\\n  -s \\ \n \\", &["curl", "a", "-s"]),
            ("curl a\\\nb \"c\\\nd\"", &["curl", "ab", "cd"]),
            (r#"curl "a\"b\\c\d$e" '\n'"#, &["curl", "a\"b\\c\\d$e", "\\n"]),
            (r"curl $'a\'b\n\x41\u00e9\ud83d\ude00\041\q' $''", &["curl", "a'b\nAé😀!\\q", ""]),
            ("curl a$'b c'\"d\" $\"e f\"", &["curl", "ab cd", "e f"]),
            ("curl a#b # 'not closed\nc", &["curl", "a#b", "c"]),
            ("curl 'a^' \"^b\" c^d ^e", &["curl", "a^", "^b", "c^d", "^e"]),
            ("", &[]),
        ] {
            let found = words(text).map_err(|faults| format!("{text}: {faults:?}")).unwrap();
            assert_eq!(found.words, expected, "{text}");
        }
    }

    #[test]
    fn variables_are_named_where_a_shell_replaces_them() {
        let found = words("curl $A '$B' \"${C}x\" \\$D \"$A$\" \"\\$E\" $'$F'").map_err(|it| it.join("\n")).unwrap();
        assert_eq!(found.variables, ["$A", "${C}"]);
        assert_eq!(found.words, ["curl", "$A", "$B", "${C}x", "$D", "$A$", "$E", "$F"]);
    }

    #[test]
    fn what_a_shell_would_do_is_refused_all_at_once() {
        for (text, count, part) in [
            ("curl 'a", 1, "not closed"),
            ("curl \"a'", 1, "not closed"),
            ("curl $'a\\'", 1, "not closed"),
            ("curl a?b=1&c=2 | jq . > x | y", 3, "`&` outside of quotation marks"),
            ("curl \"$(date)\" `id` 'b", 2, "a command of the shell"),
            (r"curl $'\ud83d' $'\xff' $'\U00110000'", 1, "not a character"),
            ("curl ^\"https://a/^\" ^\n  -H ^\"b: c^\" | d", 1, "copy it as cURL (bash)"),
            ("curl \"https://a/?b=1\" ^\n  -H \"c: d\" & e", 1, "copy it as cURL (bash)"),
        ] {
            let faults = words(text).map(|found| found.words).unwrap_err();
            assert_eq!(faults.len(), count, "{text}: {faults:?}");
            assert!(faults[0].contains(part), "{text}: {faults:?}");
        }
    }

    #[test]
    fn hostile_texts_cost_little() {
        let begun = std::time::Instant::now();
        for part in ["${", "$a", "\\ ", "^ ", "$'", "# ", "\\u", "$("] {
            drop(words(&part.repeat(60_000)).map(|found| found.words));
        }
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}
