//! The report: how it was measured, and a row for each database.

use std::fmt::Write as _;

/// How it was measured.
pub struct Measurement {
    pub sessions: i32,
    /// Runs of one statement.
    pub batch: u32,
    pub seconds: u64,
}

/// What one database has given.
pub struct DatabaseRow {
    /// Product and version.
    pub database: String,
    pub runs_a_second: f64,
    /// Of one session for 1000 runs, in milliseconds: claim, mark, settle.
    pub writes_ms: [f64; 3],
    /// CPU seconds of the client for 1000 runs.
    pub cpu_seconds: f64,
}

pub fn report(how: &Measurement, rows: &[DatabaseRow]) -> String {
    let Measurement { sessions, batch, seconds } = how;
    let mut text = format!(
        "# Ceiling of the databases\n\nWritten by `cargo bench -p carillon-admin --bench ceiling -- --report FILE`: {sessions} sessions, \
         batches of {batch}, {seconds} s each, durability as the engine wants it; client and server on the same machine.\n\n\
         | database | runs/s | claim / mark / settle, ms for 1000 runs of a session | client CPU s per 1000 runs |\n\
         | --- | --- | --- | --- |\n"
    );
    for DatabaseRow { database, runs_a_second, writes_ms: [claim, mark, settle], cpu_seconds } in rows {
        let row =
            format!("| {database} | {runs_a_second:.0} | {claim:.1} / {mark:.1} / {settle:.1} | {cpu_seconds:.4} |");
        writeln!(text, "{row}").unwrap_or_default();
    }
    text
}
