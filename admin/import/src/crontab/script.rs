//! The shell script that does what cron did with a line.

use std::fmt::Write as _;

use super::line::Entry;

/// Settings of a crontab that stand above a line: the environment of its command.
#[derive(Clone, Debug, Default)]
pub struct Environment(Vec<(String, String)>);

impl Environment {
    pub fn set(&mut self, name: &str, value: &str) {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), value.to_owned()));
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Where cron's own settings end: they are no part of the command's environment, or mean something else.
const NOT_EXPORTED: [&str; 6] = ["SHELL", "MAILTO", "MAILFROM", "CRON_TZ", "RANDOM_DELAY", "LOGNAME"];

/// With an end of line.
pub fn script(entry: &Entry<'_>, environment: &Environment) -> String {
    let mut out = String::new();
    for (name, value) in environment.0.iter().filter(|(name, _)| !NOT_EXPORTED.contains(&name.as_str())) {
        match is_variable(name) {
            true => _ = writeln!(out, "export {name}={}", quoted(value)),
            false => _ = writeln!(out, "# No shell takes the variable {name}."),
        }
    }
    if environment.get("HOME").is_some() {
        out.push_str("cd \"$HOME\" || exit\n");
    }
    let command = match environment.get("SHELL").filter(|shell| !is_usual(shell)) {
        Some(shell) => format!("{} -c {}", quoted(shell), quoted(&entry.command)),
        None => entry.command.clone(),
    };
    match &entry.input {
        None => _ = writeln!(out, "{command}"),
        Some(input) => {
            let end = end_mark(input);
            let _ = writeln!(out, "(\n{command}\n) <<'{end}'\n{input}{end}");
        }
    }
    out
}

/// A script job is run by such a shell.
fn is_usual(shell: &str) -> bool {
    shell.is_empty() || matches!(shell.rsplit('/').next(), Some("sh" | "bash"))
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// A word that is no line of the input.
fn end_mark(input: &str) -> String {
    let mark = |number: usize| match number {
        0 => "END_OF_INPUT".to_owned(),
        number => format!("END_OF_INPUT_{number}"),
    };
    (0..).map(mark).find(|mark| input.lines().all(|line| line != mark)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::line::{Line, parse};
    use super::*;

    fn of(line: &str, settings: &[(&str, &str)]) -> String {
        let mut environment = Environment::default();
        settings.iter().for_each(|(name, value)| environment.set(name, value));
        let Ok(Line::Entry(entry)) = parse(line, false) else { panic!("{line}") };
        script(&entry, &environment)
    }

    #[test]
    fn the_settings_above_a_line_are_its_environment() {
        let settings =
            [("PATH", "/usr/bin"), ("MAILTO", "ada"), ("GREETING", "it's $HOME"), ("PATH", "/bin"), ("A B", "c")];
        let expected =
            "export GREETING='it'\\''s $HOME'\nexport PATH='/bin'\n# No shell takes the variable A B.\nrun\n";
        assert_eq!(of("0 0 * * * run", &settings), expected);
        assert_eq!(of("0 0 * * * run", &[("HOME", "/srv")]), "export HOME='/srv'\ncd \"$HOME\" || exit\nrun\n");
    }

    #[test]
    fn another_shell_gets_the_command_as_an_argument() {
        assert_eq!(of("0 0 * * * echo 'x'", &[("SHELL", "/bin/bash")]), "echo 'x'\n");
        assert_eq!(of("0 0 * * * echo 'x'", &[("SHELL", "/bin/zsh")]), "'/bin/zsh' -c 'echo '\\''x'\\'''\n");
    }

    #[test]
    fn the_input_is_a_here_document_that_nothing_in_it_ends() {
        assert_eq!(
            of("0 0 * * * cat%a%END_OF_INPUT", &[]),
            "(\ncat\n) <<'END_OF_INPUT_1'\na\nEND_OF_INPUT\nEND_OF_INPUT_1\n"
        );
    }
}
