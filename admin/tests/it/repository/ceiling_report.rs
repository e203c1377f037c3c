//! The report of the benchmark `ceiling`, which one command writes.

use super::sources::files;

#[path = "../../../benches/ceiling/report.rs"]
mod report;

use report::{DatabaseRow, Measurement};

// covers: 001-46
#[test]
fn the_report_of_the_ceiling_says_how_it_was_made_and_has_a_row_for_each_database() {
    let row = |database: &str, runs_a_second| DatabaseRow {
        database: database.to_owned(),
        runs_a_second,
        writes_ms: [10.04, 2.0, 30.55],
        cpu_seconds: 0.01234,
    };
    let how = Measurement { sessions: 4, batch: 200, seconds: 10 };
    let text = report::report(&how, &[row("SQLite 3.50.2", 12_345.6), row("PostgreSQL 15.14", 9_000.0)]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines.len()), ("# Ceiling of the databases", 8), "{text}");
    assert!(lines[2].contains("4 sessions, batches of 200, 10 s each"), "{text}");
    assert_eq!(lines[6], "| SQLite 3.50.2 | 12346 | 10.0 / 2.0 / 30.6 | 0.0123 |");
    assert!(lines[7].starts_with("| PostgreSQL 15.14 | 9000 |"), "{text}");
    let columns = |line: &str| line.matches('|').count();
    assert!(lines[4..].iter().all(|line| columns(line) == 5), "{text}");
    // The command that it names is the one that the documents name.
    let command = "--bench ceiling";
    assert!(lines[2].contains(&format!("cargo bench -p carillon-admin {command} -- --report FILE")), "{text}");
    assert!(files("admin/docs")["performance.md"].contains(&format!("-p carillon-admin {command}")));
}
