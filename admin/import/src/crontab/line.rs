//! One line, as Vixie's cron and its descendants read it.

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line<'t> {
    Empty,
    Comment(&'t str),
    Setting { name: String, value: String },
    Entry(Entry<'t>),
}

/// When a command runs, as whom, and what it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'t> {
    pub when: When<'t>,
    pub user: Option<&'t str>,
    pub command: String,
    /// Standard input, if the line has some.
    pub input: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When<'t> {
    /// Five fields, or a word.
    Expression(String),
    /// `@every` and its duration.
    Every(&'t str),
}

/// Reads a line; in the file of a system a user stands before the command.
///
/// # Errors
/// Says what the line lacks.
pub fn parse(line: &str, has_user: bool) -> Result<Line<'_>, String> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(Line::Empty);
    }
    if let Some(text) = line.strip_prefix('#') {
        return Ok(Line::Comment(text.trim()));
    }
    if let Some((name, value)) = setting(line) {
        return Ok(Line::Setting { name, value });
    }
    // SUSE's cron and cronie: do not log this entry.
    let line = line.strip_prefix('-').unwrap_or(line);
    let (when, rest) = when(line)?;
    let (user, command) = match has_user {
        true => word(rest).map(|(user, command)| (Some(user), command)).unwrap_or((None, "")),
        false => (None, rest),
    };
    if command.is_empty() {
        let lacking = if has_user && user.is_none() { "a user and a command" } else { "a command" };
        return Err(format!("after the time {lacking} must stand"));
    }
    let (command, input) = input(command);
    Ok(Line::Entry(Entry { when, user, command, input }))
}

/// The first word, and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], text[end..].trim_start()))
}

fn when(line: &str) -> Result<(When<'_>, &str), String> {
    if line.starts_with('@') {
        let (name, rest) = word(line).unwrap_or((line, ""));
        return match name.to_ascii_lowercase().as_str() {
            "@every" => {
                let (duration, rest) = word(rest).ok_or("`@every` needs a duration, such as 90m")?;
                Ok((When::Every(duration), rest))
            }
            "@every_minute" => Ok((When::Expression("* * * * *".to_owned()), rest)),
            _ => Ok((When::Expression(name.to_owned()), rest)),
        };
    }
    let (mut fields, mut rest) = (vec![], line);
    while fields.len() < 5 {
        let (field, after) = word(rest).ok_or_else(|| format!("{} of 5 fields of the time", fields.len()))?;
        fields.push(field);
        rest = after;
    }
    Ok((When::Expression(fields.join(" ")), rest))
}

/// `NAME = "value"`. The name of a setting has no blanks outside quotes; nothing in the value is replaced.
fn setting(line: &str) -> Option<(String, String)> {
    let (name, value) = match line.chars().next()? {
        quote @ ('"' | '\'') => line[1..].split_once(quote)?,
        _ => line.split_at(line.find(|c: char| c == '=' || c.is_whitespace())?),
    };
    let value = value.trim_start().strip_prefix('=')?.trim();
    let is_name = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit() || c == '*' || c == '@');
    let inner = |quote| value.strip_prefix(quote).and_then(|inner: &str| inner.strip_suffix(quote));
    let value = inner('"').or_else(|| inner('\'')).unwrap_or(value);
    is_name.then(|| (name.to_owned(), value.to_owned()))
}

/// The first `%` begins the standard input, and each further one ends a line of it; `\%` is a percent sign.
fn input(text: &str) -> (String, Option<String>) {
    let (mut parts, mut part) = (vec![], String::new());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let sign = match c {
            '%' => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            '\\' if chars.next_if_eq(&'%').is_some() => '%',
            c => c,
        };
        part.push(sign);
    }
    parts.push(part);
    let command = parts.remove(0).trim_end().to_owned();
    let input = (!parts.is_empty()).then(|| parts.iter().map(|line| format!("{line}\n")).collect());
    (command, input)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(line: &str, has_user: bool) -> Entry<'_> {
        match parse(line, has_user) {
            Ok(Line::Entry(entry)) => entry,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn setting(line: &str) -> (String, String) {
        match parse(line, false) {
            Ok(Line::Setting { name, value }) => (name, value),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn an_entry_has_a_time_and_a_command() {
        let plain = entry("  */5\t* * * 1-5   cd /srv  &&  ./run a=b ", false);
        assert_eq!(plain.when, When::Expression("*/5 * * * 1-5".to_owned()));
        assert_eq!(plain.command, "cd /srv  &&  ./run a=b");
        assert_eq!((plain.user, plain.input), (None, None));
        let system = entry("17 *\t* * *\troot    cd / && run-parts --report /etc/cron.hourly", true);
        assert_eq!(system.user, Some("root"));
        assert_eq!(system.command, "cd / && run-parts --report /etc/cron.hourly");
        assert_eq!(entry("-0 3 * * * x", false).when, When::Expression("0 3 * * *".to_owned()));
        assert_eq!(entry("@daily x y", false).command, "x y");
        assert_eq!(entry("@every 90m x y", false).when, When::Every("90m"));
    }

    #[test]
    fn a_percent_sign_begins_the_input() {
        let mail = entry("0 9 * * * mail -s \"50\\% off\" ada%Hello,%%Bye", false);
        assert_eq!(mail.command, "mail -s \"50% off\" ada");
        assert_eq!(mail.input.as_deref(), Some("Hello,\n\nBye\n"));
        assert_eq!(entry("0 9 * * * date +\\%F \\\\n", false).command, "date +%F \\\\n");
    }

    #[test]
    fn a_setting_has_no_blanks_in_its_name_and_loses_its_quotes() {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(setting("MAILTO=\"\""), of("MAILTO", ""));
        assert_eq!(setting("PATH = /usr/bin:$HOME/bin  "), of("PATH", "/usr/bin:$HOME/bin"));
        assert_eq!(setting("OPTS='-a b=c'"), of("OPTS", "-a b=c"));
        assert_eq!(setting("\"A B\" = c"), of("A B", "c"));
        assert_eq!(entry("0 0 * * * X=1 run", false).command, "X=1 run");
    }

    #[test]
    fn what_lacks_a_part_is_named() {
        assert_eq!(parse("0 0 * *", false).unwrap_err(), "4 of 5 fields of the time");
        assert_eq!(parse("0 0 * * *", false).unwrap_err(), "after the time a command must stand");
        assert_eq!(parse("0 0 * * * root", true).unwrap_err(), "after the time a command must stand");
        assert_eq!(parse("@daily", true).unwrap_err(), "after the time a user and a command must stand");
        assert_eq!(parse("# x", false), Ok(Line::Comment("x")));
        assert_eq!(parse(" ", false), Ok(Line::Empty));
    }
}
