//! Every judged expression of xxl-job's own parser (3.4), under its policy for clock changes. Two rows of America/Havana (GAP-023,
//! OVL-018) have the offset of the zone data 2026f, in which Cuba stays on summer time in the winter of 2026.

use carillon_scheduler::{ClockChanges, CronSchedule, Millis};

const VECTORS: &str = include_str!("cron_vectors.tsv");
/// Where xxl-job's versions differ from each other or from their own rules; the last column has the strict reading.
const QUIRKS: &str = include_str!("cron_vectors_quirks.tsv");

fn millis(text: &str) -> Millis {
    chrono::DateTime::parse_from_rfc3339(text).expect("the vectors hold RFC 3339 times").timestamp_millis()
}

/// Our result for a row, in the form of its last three columns.
fn answer(expression: &str, zone: &str, from: &str) -> Vec<Option<Millis>> {
    let Ok(schedule) = CronSchedule::parse(expression, zone, ClockChanges::Xxl) else {
        return vec![];
    };
    let mut at = Some(millis(from));
    (0..3)
        .map(|_| {
            at = at.and_then(|at| schedule.next_after(at));
            at
        })
        .collect()
}

#[test]
fn all_316_rows_agree_under_the_policy_xxl() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in VECTORS.lines().skip(1) {
        rows += 1;
        let columns: Vec<&str> = line.split('\t').collect();
        let [id, expression, zone, from, next @ ..] = columns.as_slice() else { panic!("{line}") };
        let expected: Vec<Option<Millis>> = match next {
            ["ERR", ..] => vec![],
            next => next.iter().map(|&at| (at != "-").then(|| millis(at))).collect(),
        };
        let answer = answer(&expression.replace("\\t", "\t"), zone, from);
        if answer != expected {
            wrong.push(format!("{id} {expression} {zone} {from}: {answer:?}, not {expected:?}"));
        }
    }
    assert_eq!(rows, 316);
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// What a strict reading of a quirk is; `None`: ours is another one, see below.
fn strict(columns: &[&str]) -> Option<Vec<Option<Millis>>> {
    let note = columns[13];
    if matches!(columns[0], "Q-001" | "Q-002") {
        return Some(vec![]); // a step beside a name, which xxl-job ignores: refused
    }
    if matches!(columns[0], "Q-003" | "Q-004") {
        return None; // long names: taken
    }
    if let Some(times) = note.strip_prefix("strict reading gives ") {
        return Some(times.split(' ').map(|at| Some(millis(at))).collect());
    }
    if note.starts_with("strict reading equals 3.4") && columns[10] != "ERR" {
        return Some(columns[10..13].iter().map(|&at| (at != "-").then(|| millis(at))).collect());
    }
    Some(vec![])
}

#[test]
fn quirks_are_read_strictly_or_refused() {
    let mut wrong = Vec::new();
    for line in QUIRKS.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let answer = answer(columns[1], columns[2], columns[3]);
        match strict(&columns) {
            Some(expected) if answer != expected => {
                wrong.push(format!("{line}: {answer:?}, not {expected:?}"));
            }
            None if answer.is_empty() => wrong.push(format!("{line}: refused")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The README's entry for a row.
fn reading(columns: &[&str]) -> String {
    let (expression, zone, from) = (columns[1], columns[2], columns[3]);
    if let Err(error) = CronSchedule::parse(expression, zone, ClockChanges::Xxl) {
        let problem = error.message.split(" (field ").next().unwrap_or_default();
        let escaped = problem.replace('[', r"\[").replace(']', r"\]");
        return format!("refused: {escaped}");
    }
    let ours = answer(expression, zone, from);
    let versions = [("2.5", 4), ("3.3", 7), ("3.4", 10)];
    let same = |first: usize| {
        let theirs = columns[first..first + 3].iter();
        let theirs = theirs.map(|&at| (!matches!(at, "-" | "ERR")).then(|| millis(at)));
        columns[first] != "ERR" && theirs.eq(ours.iter().copied())
    };
    let same: Vec<&str> = versions.into_iter().filter(|&(_, first)| same(first)).map(|(version, _)| version).collect();
    match same.as_slice() {
        [] => "as none".to_owned(),
        all => format!("as {}", all.join(", ")),
    }
}

#[test]
fn the_readme_says_how_each_quirk_is_read() {
    let readme = include_str!("../README.md");
    let missing: Vec<String> = QUIRKS
        .lines()
        .skip(1)
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let expression = columns[1].replace('|', "\\|");
            format!("| {} | `{expression}` | {} |", columns[0], reading(&columns))
        })
        .filter(|row| !readme.lines().any(|line| line == row))
        .collect();
    assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
    let rows = readme.lines().filter(|line| line.starts_with("| Q-"));
    assert_eq!(rows.count(), QUIRKS.lines().count() - 1);
}
