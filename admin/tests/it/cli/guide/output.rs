//! Whether an output is the one that a document shows. The rules are in the head of the module.

use carillon_scheduler::{Clock as _, SystemClock};

/// Whether the lines of `shown` are those of `printed`; `starts`: whether more may follow.
pub fn matches(shown: &str, printed: &str, starts: bool) -> bool {
    let mut shown: Vec<&str> = shown.trim_end().lines().collect();
    shown.extend(starts.then_some("…"));
    let printed: Vec<&str> = printed.trim_end().lines().collect();
    all(&shown, &printed)
}

fn all(shown: &[&str], printed: &[&str]) -> bool {
    match (shown, printed) {
        ([], printed) => printed.is_empty(),
        ([first, rest @ ..], printed) if first.trim() == "…" => {
            (0..=printed.len()).any(|skipped| all(rest, &printed[skipped..]))
        }
        ([first, rest @ ..], [line, more @ ..]) => line_matches(first, line) && all(rest, more),
        (_, []) => false,
    }
}

fn line_matches(shown: &str, printed: &str) -> bool {
    let printed = normal(printed, Instants::Recent);
    [Instants::None, Instants::All].into_iter().any(|instants| pieces_match(&normal(shown, instants), &printed))
}

/// The pieces between the signs `…`, in this order; the first at the beginning, the last at the end.
fn pieces_match(shown: &str, printed: &str) -> bool {
    let pieces: Vec<&str> = shown.split('…').collect();
    let [first, middle @ .., last] = &pieces[..] else { return shown == printed };
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    for piece in middle {
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

/// Which instants stand for any other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Instants {
    None,
    /// Those within 400 days of now.
    Recent,
    All,
}

/// One blank between words; instants, measures, secrets and addresses of this machine by their kinds.
fn normal(line: &str, instants: Instants) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_+/=:.".contains(c);
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut text, mut rest) = (String::new(), words.as_str());
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end.max(first.len_utf8()));
        let measure = after.strip_prefix(' ').and_then(|next| {
            let unit = next.split(|c: char| !c.is_alphanumeric()).next()?;
            (is_number(word) && UNITS.contains(&unit)).then(|| &next[unit.len()..])
        });
        rest = measure.unwrap_or(after);
        text.push_str(if measure.is_some() { "<measure>" } else { kind(word, instants).unwrap_or(word) });
    }
    text
}

const UNITS: &[&str] = &["µs", "ms", "s", "min", "h", "bytes", "KiB", "MiB", "GiB", "MB"];

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn kind(word: &str, instants: Instants) -> Option<&'static str> {
    let bare = word.trim_end_matches(['.', ':']);
    if let Some(days) = instant(bare) {
        let is_near = || (days - SystemClock::new().now() / 86_400_000).abs() < 400;
        let is_free = instants == Instants::All || instants == Instants::Recent && is_near();
        return is_free.then_some("<instant>");
    }
    let host = bare.trim_start_matches("http://").split('/').next().unwrap_or_default();
    if let Some(("127.0.0.1", port)) = host.split_once(':') {
        return port.parse::<u16>().is_ok().then_some("<address>");
    }
    let unit = bare.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if unit != bare && (UNITS.contains(&unit) || unit.is_empty() && bare.contains('.')) {
        return Some("<measure>");
    }
    let has = |test: fn(&char) -> bool| bare.chars().any(|c| test(&c));
    let is_secret = bare.len() >= 20
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && bare.chars().all(|c| c.is_ascii_alphanumeric() || "-_+/=".contains(c));
    is_secret.then_some("<secret>")
}

/// The day of an instant such as `2026-03-01T09:00:00+01:00`, counted from 1970 on.
fn instant(word: &str) -> Option<i64> {
    let (date, time) = word.split_once('T')?;
    let date = chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
    time.starts_with(|c: char| c.is_ascii_digit()).then(|| (date - chrono::NaiveDate::default()).num_days())
}

#[test]
fn what_may_differ_and_what_may_not() {
    let now = chrono::DateTime::from_timestamp_millis(SystemClock::new().now()).unwrap().to_rfc3339();
    let same = [
        ("a\n…\nd\n", "a\nb\nc\nd\n"),
        ("…\nd\n", "d\n"),
        ("run … ended\n", "run 7 of 9 ended\n"),
        ("at 2024-03-01T09:00:00Z, then\n", &format!("at {now}, then\n")),
        ("took 12 ms, 3.5 MiB\n", "took  7 ms, 4 MiB\n"),
        ("secret   3f9a5b1c3f9a5b1c3f9a5b1c\n", "secret aaaaabbbbbcccccddddd11111\n"),
        ("listen=127.0.0.1:8080\n", "listen=127.0.0.1:8080\n"),
        ("http://127.0.0.1:8080/setup\n", "http://127.0.0.1:1/setup\n"),
    ];
    for (shown, printed) in same {
        assert!(matches(shown, printed, false), "{shown} is {printed}");
    }
    let other = [
        ("3 jobs\n", "4 jobs\n"),
        ("a\n", "a\nb\n"),
        ("2024-03-01T09:00:00Z\n", "2024-03-01T10:00:00Z\n"),
        ("a\n…\nd\n", "a\nb\n"),
        ("retries: 2 → 3\n", "retries: 2 → 4\n"),
    ];
    for (shown, printed) in other {
        assert!(!matches(shown, printed, false), "{shown} is not {printed}");
    }
    assert!(matches("a\n", "a\nb\n", true) && !matches("a\nb\n", "a\n", true));
}
