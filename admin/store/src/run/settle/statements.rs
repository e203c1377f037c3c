//! The statements of a settle, one array or JSON parameter each.

use carillon_scheduler::{Millis, RunReason, RunState};

use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{ListColumn, int, long, short, text};
use crate::db::sql::text::printable;
use crate::run::settle::finding::{ReporterToken, RunReport};

/// Texts of one statement, in bytes: far below what a server takes in one packet (16 MiB on MariaDB), escaped too.
const STATEMENT_LIMIT: usize = 1024 * 1024;

/// Run, state, code, message, reason, when it was sent and received, and of a report: the app of its token and the start of its executor.
pub type SettleRow = (
    i64,
    i16,
    Option<i32>,
    Option<String>,
    Option<&'static str>,
    Option<Millis>,
    Option<Millis>,
    Option<i64>,
    Option<String>,
);

/// In the place of the app: the token is good for all apps.
const ANY_APP: i64 = -1;

pub fn settle_row(finding: &RunReport, state: RunState) -> SettleRow {
    let message = finding.message.as_deref().filter(|text| !text.is_empty());
    (
        finding.run_id,
        state.code(),
        finding.code,
        message.map(printable),
        finding.reason.map(RunReason::as_str),
        finding.sent_at,
        finding.received_at,
        finding.reporter.as_ref().map(|reporter| match reporter.token {
            ReporterToken::Global { .. } => ANY_APP,
            ReporterToken::OfApp { app_id, .. } => app_id,
        }),
        finding.reporter.as_ref().and_then(|reporter| reporter.boot_id.clone()),
    )
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

const LIST: &[ListColumn] = &[
    long("id"),
    short("state"),
    int("code").nullable(),
    text("message", "MEDIUMTEXT").nullable(),
    text("reason", "VARCHAR(64)").nullable(),
    long("sent_at").nullable(),
    long("received_at").nullable(),
    long("app").nullable(),
    text("boot_id", "VARCHAR(64)").nullable(),
];

const fn settle_if(only_if: &'static str) -> Bulk {
    Bulk::update_runs(
        LIST,
        &[
            ("state", "u.state"),
            ("result_code", "u.code"),
            ("result_msg", "u.message"),
            ("reason", "u.reason"),
            ("sent_at", "COALESCE(run.sent_at, u.sent_at)"),
            ("received_at", "COALESCE(run.received_at, u.received_at)"),
            ("finished_at", ":now"),
        ],
        only_if,
    )
}

/// Only runs that are on their way, and reports of the executor that has the run; the state is hidden from the planner (see
/// `mark`). `u.app` is NULL for what no executor has reported, and -1 for a token of all apps.
pub static SETTLE_SUCCESSES: Bulk = settle_if(
    "{+run.state} IN ({state.sending}, {state.running}) AND run.follow = 0 \
     AND (u.app IS NULL OR (u.app IN (-1, run.app_id) AND (run.boot_id IS NULL OR run.boot_id = u.boot_id)))",
);

/// What the transition function has allowed, under the row locks that it was asked under.
pub static SETTLE: Bulk = settle_if("{+run.state} < {state.final}");

/// Run, what its handler has said, and when it was sent and received.
pub type HoldRow = (i64, Option<String>, Option<Millis>, Option<Millis>);

/// Runs whose items are delivered from now on. Their end comes when these have ended.
pub static HOLD: Bulk = Bulk::update_runs(
    &[long("id"), text("message", "MEDIUMTEXT").nullable(), long("sent_at").nullable(), long("received_at").nullable()],
    &[
        ("state", "{state.running}"),
        ("result_msg", "u.message"),
        ("sent_at", "COALESCE(run.sent_at, u.sent_at)"),
        ("received_at", "COALESCE(run.received_at, u.received_at)"),
        ("follow", "run.follow | {follow.held}"),
    ],
    "{+run.state} IN ({state.sending}, {state.running})",
);

pub static ACCEPT: Bulk = Bulk::update_runs(
    &[long("id"), long("sent_at"), long("received_at").nullable()],
    &[
        ("state", "CASE WHEN run.state = {state.sending} THEN {state.running} ELSE run.state END"),
        ("sent_at", "COALESCE(run.sent_at, u.sent_at)"),
        ("received_at", "COALESCE(run.received_at, u.received_at)"),
    ],
    "",
);
