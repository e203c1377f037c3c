//! The ranges of `admin/docs/settings.md`: their ends are taken, and what lies outside is refused.

use clap::{CommandFactory as _, Parser};

use crate::cli::settings::ServeSettings;

const DOCUMENT: &str = include_str!("../../../docs/settings.md");

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    settings: ServeSettings,
}

/// What a range counts, by the name of the value in the manual.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Number,
    /// In milliseconds.
    Time,
    /// Characters of a secret.
    Length,
}

impl Kind {
    fn of(value_name: &str) -> Option<Self> {
        match value_name {
            "NUMBER" => Some(Self::Number),
            "TIME" => Some(Self::Time),
            "TOKEN" | "PASSWORD" => Some(Self::Length),
            _ => None,
        }
    }

    fn text(self, value: u64) -> String {
        match self {
            Self::Number => value.to_string(),
            Self::Time => format!("{value}ms"),
            Self::Length => "vK7q".chars().cycle().take(usize::try_from(value).unwrap()).collect(),
        }
    }
}

/// The number at the start of a text, and the word behind it.
fn quantity(text: &str) -> (u64, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let word = rest.split_whitespace().next().unwrap_or_default();
    (
        number.replace(',', "").parse().unwrap_or_else(|_| panic!("no number: {text}")),
        word.trim_matches([',', ':', ';']),
    )
}

fn ms(unit: &str) -> u64 {
    match unit {
        "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "day" | "days" => 86_400_000,
        _ => panic!("unit: {unit}"),
    }
}

/// The range at the start of a text: `1–1024`, `1–30 s`, `50 ms – 10 s`, `16 characters or more`.
fn range(kind: Kind, text: &str) -> (u64, Option<u64>) {
    if let Some((least, _)) = text.split_once(" characters or more") {
        return (quantity(least).0, None);
    }
    let (from, to) = text.split_once('–').unwrap_or_else(|| panic!("no range: {text}"));
    let ((from, from_unit), (to, to_unit)) = (quantity(from.trim()), quantity(to.trim()));
    match kind {
        Kind::Time if from_unit.is_empty() => (from * ms(to_unit), Some(to * ms(to_unit))),
        Kind::Time => (from * ms(from_unit), Some(to * ms(to_unit))),
        Kind::Number | Kind::Length => (from, Some(to)),
    }
}

fn is_taken(flag: &str, value: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let folder = format!("--data-dir={}", folder.path().display());
    let given = format!("--{flag}={value}");
    let mut line = vec!["carillon", &folder, &given];
    if flag == "request-timeout" {
        // It must be longer than this one.
        line.push("--connect-timeout=50ms");
    }
    !Line::parse_from(line).settings.problems().iter().any(|problem| problem.setting == flag)
}

// covers: 003-25, 6.18
#[test]
fn the_ranges_of_the_document_are_those_of_the_program() {
    let mut compared = 0;
    for argument in Line::command().get_arguments() {
        let names = argument.get_value_names().unwrap_or_default();
        let Some(kind) = names.first().and_then(|name| Kind::of(name)) else { continue };
        let flag = argument.get_long().unwrap();
        let row = DOCUMENT.lines().find(|line| line.starts_with(&format!("| `--{flag}` | "))).expect(flag);
        let (least, most) = range(kind, row.split(" | ").nth(3).unwrap());
        assert!(is_taken(flag, &kind.text(least)), "--{flag}: {least} is in the range");
        assert!(!is_taken(flag, &kind.text(least - 1)), "--{flag}: {} is outside", least - 1);
        if let Some(most) = most {
            assert!(is_taken(flag, &kind.text(most)), "--{flag}: {most} is in the range");
            assert!(!is_taken(flag, &kind.text(most + 1)), "--{flag}: {} is outside", most + 1);
        }
        compared += 1;
    }
    assert_eq!(compared, 17, "each number, time and secret with a range");
}

#[test]
fn ranges_are_read_with_their_units() {
    assert_eq!(range(Kind::Number, "1–100,000 requests a second"), (1, Some(100_000)));
    assert_eq!(range(Kind::Number, "1–1024, for a new database"), (1, Some(1024)));
    assert_eq!(range(Kind::Time, "1–30 s: how long"), (1_000, Some(30_000)));
    assert_eq!(range(Kind::Time, "50 ms – 10 s: connecting"), (50, Some(10_000)));
    assert_eq!(range(Kind::Time, "1 min – 30 days: an alarm"), (60_000, Some(2_592_000_000)));
    assert_eq!(range(Kind::Length, "16 characters or more; bearer token"), (16, None));
}
