//! The statements of a settle, one array or JSON parameter each.

use carillon_scheduler::{Millis, RunState};
use sea_orm::{DbBackend, Value};
use serde::Serialize;

use crate::db::dialect::Text;
use crate::run::settle::outcomes::Finding;

/// Kept of a result's text, in bytes.
const MESSAGE_LIMIT: usize = 64 * 1024;

/// Texts of one statement, in bytes: far below what a server takes in one packet (16 MiB on MariaDB), escaped too.
const STATEMENT_LIMIT: usize = 1024 * 1024;

/// Stands for "no code" where NULL cannot.
const NO_CODE: i32 = i32::MIN;

#[derive(Serialize)]
pub struct SettleRow(i64, i16, Option<i32>, Option<String>, Option<&'static str>, Option<Millis>);

impl SettleRow {
    pub fn run_id(&self) -> i64 {
        self.0
    }

    pub fn of(finding: &Finding, state: RunState) -> Self {
        let message = finding.message.as_deref().filter(|text| !text.is_empty());
        let message = message.map(printable);
        Self(finding.run_id, state.code(), finding.code, message, finding.reason, finding.sent_at)
    }
}

/// Cuts a settle into statements that every server takes.
pub fn statements(rows: &[SettleRow]) -> impl Iterator<Item = &[SettleRow]> {
    let mut bytes = 0;
    rows.chunk_by(move |row, next| {
        bytes += row.3.as_ref().map_or(0, String::len);
        let next = next.3.as_ref().map_or(0, String::len);
        let fits = bytes + next <= STATEMENT_LIMIT;
        if !fits {
            bytes = 0;
        }
        fits
    })
}

/// PostgreSQL takes no NUL in text; what is longer than the limit says so at its end.
pub fn printable(message: &str) -> String {
    let clean = message.replace('\0', "\u{2400}");
    if clean.len() <= MESSAGE_LIMIT {
        return clean;
    }
    let end = clean.floor_char_boundary(MESSAGE_LIMIT);
    format!("{}… [cut at {MESSAGE_LIMIT} bytes]", &clean[..end])
}

/// Only runs that are on their way; the state is hidden from the planner (see `mark`).
pub const SETTLE_SUCCESSES: Text = Text {
    sqlite: "UPDATE run SET state = u.value->>1, result_code = u.value->>2, result_msg = u.value->>3, reason = u.value->>4, \
             sent_at = COALESCE(sent_at, u.value->>5), finished_at = ? FROM json_each(?) AS u \
             WHERE run.id = u.value->>0 AND +run.state IN (1, 2) AND run.chained = FALSE AND run.parent = FALSE",
    postgres: "UPDATE run SET state = u.s, result_code = NULLIF(u.c, -2147483648), result_msg = NULLIF(u.m, ''), \
               reason = NULLIF(u.r, ''), sent_at = COALESCE(sent_at, NULLIF(u.t, 0)), finished_at = ? \
               FROM unnest(?::bigint[], ?::smallint[], ?::int[], ?::text[], ?::text[], ?::bigint[]) AS u(id, s, c, m, r, t) \
               WHERE run.id = u.id AND run.state + 0 IN (1, 2) AND run.chained = FALSE AND run.parent = FALSE",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', s SMALLINT PATH '$[1]', c INT PATH '$[2]', m MEDIUMTEXT PATH '$[3]', \
            r VARCHAR(64) PATH '$[4]', t BIGINT PATH '$[5]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
            SET run.state = u.s, run.result_code = u.c, run.result_msg = u.m, run.reason = u.r, run.sent_at = COALESCE(run.sent_at, u.t), \
            run.finished_at = ? WHERE run.state IN (1, 2) AND run.chained = FALSE AND run.parent = FALSE",
};

/// Whatever the transition function has allowed, under the row locks that it was asked under.
pub const SETTLE: Text = Text {
    sqlite: "UPDATE run SET state = u.value->>1, result_code = u.value->>2, result_msg = u.value->>3, reason = u.value->>4, \
             sent_at = COALESCE(sent_at, u.value->>5), finished_at = ? FROM json_each(?) AS u \
             WHERE run.id = u.value->>0 AND +run.state < 9",
    postgres: "UPDATE run SET state = u.s, result_code = NULLIF(u.c, -2147483648), result_msg = NULLIF(u.m, ''), \
               reason = NULLIF(u.r, ''), sent_at = COALESCE(sent_at, NULLIF(u.t, 0)), finished_at = ? \
               FROM unnest(?::bigint[], ?::smallint[], ?::int[], ?::text[], ?::text[], ?::bigint[]) AS u(id, s, c, m, r, t) \
               WHERE run.id = u.id AND run.state + 0 < 9",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', s SMALLINT PATH '$[1]', c INT PATH '$[2]', m MEDIUMTEXT PATH '$[3]', \
            r VARCHAR(64) PATH '$[4]', t BIGINT PATH '$[5]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
            SET run.state = u.s, run.result_code = u.c, run.result_msg = u.m, run.reason = u.r, run.sent_at = COALESCE(run.sent_at, u.t), \
            run.finished_at = ? WHERE run.state < 9",
};

pub fn settle_values(backend: DbBackend, rows: &[SettleRow], now: Millis) -> Vec<Value> {
    if backend == DbBackend::Postgres {
        return vec![
            now.into(),
            rows.iter().map(|row| row.0).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.1).collect::<Vec<_>>().into(),
            // An array cannot hold a NULL here; each column has a value that no row has, and the text turns it back.
            rows.iter().map(|row| row.2.unwrap_or(NO_CODE)).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.3.clone().unwrap_or_default()).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.4.unwrap_or_default().to_owned()).collect::<Vec<_>>().into(),
            rows.iter().map(|row| row.5.unwrap_or_default()).collect::<Vec<_>>().into(),
        ];
    }
    let list = Value::from(serde_json::to_string(rows).unwrap_or_default());
    if backend == DbBackend::MySql { vec![list, now.into()] } else { vec![now.into(), list] }
}

pub const ACCEPT: Text = Text {
    sqlite: "UPDATE run SET state = CASE WHEN state = 1 THEN 2 ELSE state END, sent_at = COALESCE(sent_at, u.value->>1) \
             FROM json_each(?) AS u WHERE run.id = u.value->>0",
    postgres: "UPDATE run SET state = CASE WHEN state = 1 THEN 2 ELSE state END, sent_at = COALESCE(sent_at, u.t) \
               FROM unnest(?::bigint[], ?::bigint[]) AS u(id, t) WHERE run.id = u.id",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', t BIGINT PATH '$[1]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.id \
            SET run.state = CASE WHEN run.state = 1 THEN 2 ELSE run.state END, run.sent_at = COALESCE(run.sent_at, u.t)",
};

pub fn accept_values(backend: DbBackend, list: &[(i64, Millis)]) -> Vec<Value> {
    if backend == DbBackend::Postgres {
        return vec![
            list.iter().map(|row| row.0).collect::<Vec<_>>().into(),
            list.iter().map(|row| row.1).collect::<Vec<_>>().into(),
        ];
    }
    vec![Value::from(serde_json::to_string(list).unwrap_or_default())]
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-33
    #[test]
    fn a_message_over_the_limit_is_cut_and_says_so() {
        let long = "é".repeat(MESSAGE_LIMIT);
        let kept = printable(&long);
        assert!(kept.len() < MESSAGE_LIMIT + 64 && kept.ends_with("bytes]"), "{}", kept.len());
        assert_eq!(printable("a\0b"), "a\u{2400}b");
    }
}
