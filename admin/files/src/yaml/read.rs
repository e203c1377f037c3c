//! From the events of the YAML parser to a tree.

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span};

use super::node::{Content, Key, Node};

/// Why a file cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxFault {
    /// From 1.
    pub line: usize,
    pub message: String,
}

impl SyntaxFault {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// Levels of nesting. A job has four, an object of Kubernetes in a list up to 20.
const DEEPEST: usize = 32;

/// The one document of a file.
///
/// # Errors
/// It is no YAML, or it uses what job files do not allow.
pub fn read(text: &str) -> Result<Node, SyntaxFault> {
    let mut documents = read_documents(text)?.into_iter();
    let root = documents.next().ok_or_else(|| SyntaxFault::new(1, "the file is empty"))?;
    match documents.next() {
        None => Ok(root),
        Some(second) => Err(SyntaxFault::new(second.line, "a second document begins here; write one document a file")),
    }
}

/// All documents of a text, such as objects of Kubernetes.
///
/// # Errors
/// As [`read`].
pub fn read_documents(text: &str) -> Result<Vec<Node>, SyntaxFault> {
    let mut reader = Reader { events: Parser::new_from_str_with_options(text, options()), text };
    let mut documents = vec![];
    loop {
        let (event, line) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(documents),
            Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
            event => documents.push(reader.node(event, line, 0)?),
        }
    }
}

fn options() -> Options {
    let mut options = Options::default();
    options.emit_unresolved_aliases = true;
    options
}

struct Reader<'t, I> {
    events: I,
    text: &'t str,
}

impl<'t, I: Iterator<Item = Result<(Event<'t>, Span), ScanError>>> Reader<'t, I> {
    fn next(&mut self) -> Result<(Event<'t>, usize), SyntaxFault> {
        match self.events.next() {
            Some(Ok((event, span))) => Ok((event, span.start.line())),
            Some(Err(error)) => Err(self.scan_fault(&error)),
            None => Err(SyntaxFault::new(1, "the file ends too early")),
        }
    }

    fn node(&mut self, event: Event<'t>, line: usize, depth: usize) -> Result<Node, SyntaxFault> {
        if depth > DEEPEST {
            return Err(SyntaxFault::new(line, format!("nested deeper than {DEEPEST} levels")));
        }
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag) => (*anchor, tag.is_some()),
            Event::SequenceStart(_, anchor, tag) | Event::MappingStart(_, anchor, tag) => (*anchor, tag.is_some()),
            _ => (0, false),
        };
        if anchor != 0 || tag {
            return Err(self.unquoted(line, "anchors (`&`) and tags (`!`) are not allowed"));
        }
        let content = match event {
            Event::Scalar(text, style, ..) => {
                Content::Scalar { text: text.into_owned(), is_plain: style == ScalarStyle::Plain }
            }
            Event::SequenceStart(..) => self.list(depth)?,
            Event::MappingStart(..) => self.map(depth)?,
            _ => return Err(self.unquoted(line, "aliases (`*`) are not allowed")),
        };
        Ok(Node { line, content })
    }

    fn list(&mut self, depth: usize) -> Result<Content, SyntaxFault> {
        let mut items = vec![];
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Content::List(items)),
                (event, line) => items.push(self.node(event, line, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Content, SyntaxFault> {
        let mut members: Vec<(Key, Node)> = vec![];
        loop {
            let (event, line) = self.next()?;
            let text = match event {
                Event::MappingEnd => return Ok(Content::Map(members)),
                event => match self.node(event, line, depth + 1)?.content {
                    Content::Scalar { text, .. } => text,
                    _ => return Err(SyntaxFault::new(line, "the name of a member must be a text")),
                },
            };
            if let Some((first, _)) = members.iter().find(|(key, _)| key.text == text) {
                let message = format!("`{text}` stands here a second time; the first is in line {}", first.line);
                return Err(SyntaxFault::new(line, message));
            }
            let (event, value_line) = self.next()?;
            members.push((Key { line, text }, self.node(event, value_line, depth + 1)?));
        }
    }

    fn scan_fault(&self, error: &ScanError) -> SyntaxFault {
        let line = error.marker().line().max(1);
        self.unquoted(line, &format!("this is no YAML: {}", error.info()))
    }

    /// The usual cause of a syntax error at a value that begins with a sign which YAML reserves: a cron expression without quotes.
    fn unquoted(&self, line: usize, otherwise: &str) -> SyntaxFault {
        let of_line = |number: usize| {
            let source = self.text.lines().nth(number.checked_sub(1)?)?;
            let (name, value) = source.trim_start().trim_start_matches("- ").split_once(": ")?;
            let value = value.trim();
            let is_reserved = value.starts_with(['*', '@', '%', '`', '&', '!']) || value.starts_with("? ");
            is_reserved.then(|| (number, name.trim().to_owned(), value.to_owned()))
        };
        // The parser may notice it only in the next line.
        match of_line(line).or_else(|| of_line(line.saturating_sub(1))) {
            Some((line, name, value)) if matches!(&name[..], "expression" | "cron") => {
                SyntaxFault::new(line, format!("put the expression in quotes: {name}: \"{value}\""))
            }
            Some((line, name, value)) => {
                SyntaxFault::new(line, format!("put the value in quotes: {name}: \"{value}\""))
            }
            None => SyntaxFault::new(line, otherwise),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, String) {
        let fault = read(text).unwrap_err();
        (fault.line, fault.message)
    }

    #[test]
    fn an_expression_without_quotes_is_named_with_its_line() {
        for expression in ["*/5 * * * *", "* * * * *", "@daily", "? * * * *", "*"] {
            let text = format!(
                "jobs:\n  - key: a\n    schedule:\n      kind: unix_cron\n      expression: {expression}\n    retries: 1\n"
            );
            let said = format!("put the expression in quotes: expression: \"{expression}\"");
            assert_eq!(fault(&text), (5, said), "{expression}");
        }
        assert_eq!(fault("name: %x\n").1, "put the value in quotes: name: \"%x\"");
        assert!(read("expression: 0 0 ? * *\n").is_ok());
    }

    #[test]
    fn what_hides_or_repeats_is_refused_with_its_line() {
        assert_eq!(fault("a: 1\nb: &x 2\n"), (2, "put the value in quotes: b: \"&x 2\"".to_owned()));
        assert_eq!(fault("a: 1\na: 2\n"), (2, "`a` stands here a second time; the first is in line 1".to_owned()));
        assert_eq!(fault("a: 1\n---\nb: 2\n").0, 3);
        assert_eq!(fault(""), (1, "the file is empty".to_owned()));
        assert!(fault("a: [1, 2\nb: 3\n").1.starts_with("this is no YAML: "));
        assert!(fault(&format!("{}x\n", "- ".repeat(40))).1.contains("nested deeper"));
    }
}
