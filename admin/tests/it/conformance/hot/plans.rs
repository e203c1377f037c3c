//! Each statement that runs all day is run by the key that it was written for, however full or empty the tables are.

use carillon_store::db::hot_statements::texts;
use sea_orm::{ConnectionTrait as _, DatabaseTransaction, QueryResult, Statement, TransactionTrait as _};

use crate::conformance::fixture::{Fixture, SHARDS, after};
use crate::services::Kind;

/// The values of a table's row, by its id.
type RowOf<'a> = &'a dyn Fn(i64) -> String;

/// Jobs, and four times as many runs: most of them over long ago, 25 of each open state.
pub(in crate::conformance) async fn fill(fixture: &Fixture, jobs: i64) {
    let open = |id: i64| {
        if id <= jobs * 4 - 100 { 9 } else { (jobs * 4 - id) / 25 }
    };
    let few = jobs.min(2_000);
    let tables: [(&str, i64, RowOf<'_>); 11] = [
        ("alarm (id, job_id, kind, message, created_at)", few, &|id| format!("({id}, 1, 'k', 'm', {id})")),
        ("audit (id, at, actor, source, action, object, object_id, detail)", few, &|id| {
            format!("({}, {id}, 'a', 's', 'c', 'app', 1, '{{}}')", id + 1_000_000)
        }),
        ("idempotency (request_key, object_id, created_at)", few, &|id| format!("('k{id}', 1, {id})")),
        ("session (id_hash, account_id, csrf, created_at, seen_at, expires_at)", few, &|id| {
            format!("('h{id}', 1, 'c', 1, 1, {id})")
        }),
        ("job_failure (job_id, failures, fire_no)", 10, &|id| format!("({id}, 1, {id})")),
        ("login_throttle (subject, failures, until_at)", few, &|id| format!("('s{id}', 1, {id})")),
        (
            "job (id, app_id, shard, name, handler, schedule_kind, schedule_text, anchor_at, catch_up, misfire, misfire_threshold_ms, \
          route, block, timeout_seconds, retries, enabled, revision, created_at, updated_at)",
            jobs,
            &|id| {
                format!(
                    "({id}, 1, {}, 'n', 'h', 'cron', '{{}}', 0, 'all', 'skip', 60000, 'first', 'serial', 0, 0, TRUE, 1, 1, 1)",
                    id % i64::from(SHARDS)
                )
            },
        ),
        ("job_clock (shard, next_fire_at, job_id, revision)", jobs, &|id| {
            format!("({}, {}, {id}, 1)", id % i64::from(SHARDS), after(id))
        }),
        ("delayed_trigger (shard, due_at, id, job_id, expires_at, created_at)", jobs, &|id| {
            format!("({}, {}, {id}, {id}, 0, 1)", id % i64::from(SHARDS), after(id))
        }),
        (
            "loop_lease (job_id, shard, is_wanted, epoch, app_id, address, boot_id, is_stopped, expires_at, granted_at, reported_at, counters, report)",
            jobs,
            &|id| {
                format!("({id}, {}, TRUE, 1, 1, 'a', 'b', FALSE, {}, 1, 1, '', '')", id % i64::from(SHARDS), after(id))
            },
        ),
        (
            "run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends)",
            jobs * 4,
            &|id| {
                format!(
                    "({id}, {}, 1, {}, 0, {}, 0, 1, 1, 1, {}, {}, {}, 1)",
                    id % jobs + 1,
                    id % i64::from(SHARDS),
                    after(id),
                    after(id),
                    open(id),
                    id % 3
                )
            },
        ),
    ];
    for (table, count, row) in tables {
        let ids: Vec<i64> = (1..=count).collect();
        for chunk in ids.chunks(1000) {
            let rows: Vec<String> = chunk.iter().map(|id| row(*id)).collect();
            fixture.sql(&format!("INSERT INTO {table} VALUES {}", rows.join(","))).await;
        }
    }
}

/// Some values for the statement, as they would be bound.
pub(super) fn values(name: &str, kind: Kind) -> Vec<String> {
    let postgres = kind == Kind::Postgres;
    // A list: an array for each column on PostgreSQL, rows of JSON elsewhere.
    let list = |columns: &[&str]| -> Vec<String> {
        match postgres {
            true => columns.iter().map(|value| format!("'{{{value},{value}}}'")).collect(),
            false => {
                let quoted = columns.iter().map(|value| match value.parse::<i64>() {
                    Ok(_) => (*value).to_owned(),
                    Err(_) => format!("\"{value}\""),
                });
                vec![format!("'[[{}]]'", quoted.collect::<Vec<_>>().join(","))]
            }
        }
    };
    let ids = || vec![if postgres { "'{5,6}'".to_owned() } else { "'[5,6]'".to_owned() }];
    let shards = || vec![if postgres { "'{1,2}'".to_owned() } else { "'[1,2]'".to_owned() }];
    let plain = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>();
    // The process's clock in the place of the database's.
    let clock = |value: &'static str| if kind == Kind::Sqlite { vec![value.to_owned()] } else { vec![] };
    let until = after(20).to_string();
    let cursor = after(5).to_string();
    // MariaDB wants the list before what is set.
    let led_by = |head: &[&str], list: Vec<String>| match kind {
        Kind::Mariadb => [list, plain(head)].concat(),
        _ => [plain(head), list].concat(),
    };
    match name {
        "due" => plain(&["2", "1", &until, "200"]),
        "to_scan" => [shards(), plain(&[&cursor, &until, &cursor, &until, &cursor, &until])].concat(),
        "due_triggers" => plain(&["2", "1", &until, "200"]),
        "insert_released" => {
            [plain(&["1", "'a'"]), list(&["900000", "5", &until, &until, &until, "0"]), plain(&["2"])].concat()
        }
        "overdue" => [list(&["2", "1", &cursor]), plain(&[&until])].concat(),
        "advance" | "unchanged" => list(&["5", &cursor, &until, "1", "2"]),
        "new" => plain(&["2", &cursor, &until, "1000"]),
        "oldest_waiting" => plain(&["2", "1"]),
        "record" => [plain(&["1", "'a'"]), list(&["5", "6", &until])].concat(),
        "new_runs" | "new_children" => list(&["900000", "6", "2", "900000", "1", "1"]),
        "follow_ups" => [plain(&["1"]), list(&["40", "5", "1", "6"])].concat(),
        "forgotten_ends" => [plain(&[&cursor]), shards(), plain(&["250"])].concat(),
        "note_overlap" => led_by(&["'overlap'"], ids()),
        "orphans" => plain(&["2", "7", &until, "1000"]),
        "adopt" => [led_by(&["7", "'a'"], ids()), plain(&["2", "7"])].concat(),
        "waiting" => plain(&["2", "1", &until, "1000"]),
        "mark" | "mark_limited" => led_by(&["1", "1", "'a'"], list(&["5", "1", "x", "y", "7", "0", "1", "1", "z"])),
        "lock_limits" | "free_slots" => ids(),
        "taken_slots" | "count_taken_slots" => list(&["5", "0"]),
        "stale_slots" => plain(&["1000"]),
        "add_parts" => [plain(&["'a'"]), list(&["900000", "1", "x"]), plain(&["5"])].concat(),
        "outdated" => list(&["5", "1"]),
        "unmark" => list(&["5", "1", "1"]),
        "cancel" => led_by(&["'operator'", "1"], ids()),
        "accept" => list(&["5", "1", "1"]),
        "settle" | "settle_successes" => led_by(&["1"], list(&["5", "9", "200", "m", "r", "1", "1", "1", "b"])),
        "long_running" => plain(&["2", "1", &until, "7"]),
        "to_check" | "lock_jobs" | "lock_runs" | "lock_pending" | "prune" | "clear_marks" => ids(),
        "lock_going" => [ids(), plain(&["1", "1"])].concat(),
        "flag" | "escalate" => led_by(&["1"], ids()),
        "cancel_retries" => led_by(&["1"], list(&[&cursor, "5", "0", "0", "1"])),
        "retry" => list(&["900000", "5", "1"]),
        "unanswered" => plain(&["2", "1", "16", "1000"]),
        "pending" => plain(&["2", "1", &cursor, &until, "30000", &until]),
        "late_starts" => plain(&["2", "1", &until, &until]),
        "agreed" | "not_agreed" | "next_unanswered" => plain(&["2", "1"]),
        "cursors" if kind == Kind::Mariadb => plain(&["2", &cursor, &cursor, "5", "200"]),
        "cursors" => plain(&["2", &cursor, "5", "200"]),
        "scheduled" => plain(&["5", "200"]),
        "recorded" => list(&[&cursor, "5"]),
        "delayed_cursor" => plain(&["5"]),
        "delayed_cursors" => ids(),
        "delayed_jobs" => plain(&["2", "5", "500"]),
        "open_links" => plain(&["2"]),
        "active" | "open_runs" | "open_of_backfills" => shards(),
        "astray" => [shards(), plain(&["4"])].concat(),
        "old_alarms" | "old_audit" | "old_keys" | "old_sessions" | "old_throttles" => plain(&["1", "200"]),
        "failing_too_often" => plain(&["100"]),
        "summarize_passed" => plain(&["5", "900", "1000"]),
        "grant_loops" => {
            let set = [plain(&["1"]), clock("1"), plain(&["5000"])].concat();
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            [led_by(&set, list(&["5", "1", "1", "1", "x", "y", "z"])), clock("1")].concat()
        }
        "renew_loops" => {
            let set = [plain(&["1"]), clock("1"), plain(&["5000"])].concat();
            let set: Vec<&str> = set.iter().map(String::as_str).collect();
            [led_by(&set, list(&["5", "1", "x"])), plain(&["'b'", "1"]), clock("1")].concat()
        }
        "release_loops" => [led_by(&["1"], list(&["5", "1", "x"])), plain(&["'b'", "1"])].concat(),
        "granted_loops" => list(&["5", "1", "x"]),
        "renewed_loops" => [list(&["5", "1"]), plain(&["'b'", "1"]), clock("1")].concat(),
        "free_loops" => [shards(), clock("1")].concat(),
        "loop_ends" | "watched_loops" => shards(),
        other => panic!("no values for {other}"),
    }
}

/// How it must be run: part of the plan on SQLite, PostgreSQL and MariaDB.
fn expected(name: &str) -> [&'static str; 3] {
    match name {
        "due" => [
            "job_clock USING PRIMARY KEY (shard=? AND next_fire_at>? AND next_fire_at<?)",
            "Index Scan using job_clock_pkey",
            "job_clock range PRIMARY",
        ],
        "to_scan" => [
            "c USING PRIMARY KEY (shard=? AND next_fire_at>?)",
            "Scan using job_clock_pkey on job_clock c",
            "c ref PRIMARY",
        ],
        "overdue" => [
            "run USING INDEX run_open (shard=? AND state=? AND epoch=? AND due_at>?)",
            "Scan using run_open on run",
            "run ref run_open",
        ],
        "advance" => [
            "job_clock USING PRIMARY KEY (shard=? AND next_fire_at=? AND job_id=?)",
            "Index Scan using job_clock_pkey",
            "job_clock eq_ref PRIMARY",
        ],
        "add_parts" => ["SEARCH run USING INTEGER PRIMARY KEY", "Index Scan using run_pkey", "run const PRIMARY"],
        "due_triggers" => [
            "delayed_trigger USING PRIMARY KEY (shard=? AND due_at>? AND due_at<?)",
            "Index Scan using delayed_trigger_pkey",
            "delayed_trigger range PRIMARY",
        ],
        "record" | "new_runs" | "new_children" | "insert_released" => {
            ["SEARCH j USING INTEGER PRIMARY KEY", "Index Scan using job_pkey", "j eq_ref PRIMARY"]
        }
        "lock_jobs" | "outdated" => {
            ["SEARCH job USING INTEGER PRIMARY KEY", "Index Scan using job_pkey", "job eq_ref PRIMARY"]
        }
        "lock_going" => {
            ["SEARCH r USING INTEGER PRIMARY KEY", "Index Scan using run_pkey on run r", "r eq_ref PRIMARY"]
        }
        "orphans" => {
            ["run USING COVERING INDEX run_open (shard=? AND state=? AND epoch<?)", "run_open", "run range run_open"]
        }
        "unchanged" => [
            "c USING PRIMARY KEY (shard=? AND next_fire_at=? AND job_id=?)",
            "Index Scan using job_clock_pkey",
            "c eq_ref PRIMARY",
        ],
        "new" => [
            "run USING COVERING INDEX run_open (shard=? AND state=? AND epoch=? AND due_at>? AND due_at<?)",
            "run_open",
            "run range run_open",
        ],
        "oldest_waiting" => {
            ["run USING INDEX run_open (shard=? AND state=? AND epoch=?)", "run_open", "run ref run_open"]
        }
        "late_starts" => [
            "run USING INDEX run_open (shard=? AND state=? AND epoch=? AND due_at<?)",
            "run_open",
            "run range run_open",
        ],
        "pending" => [
            "run USING INDEX run_open (shard=? AND state=? AND epoch=? AND due_at>? AND due_at<?)",
            "run_open",
            "run range run_open",
        ],
        "waiting" => [
            "run USING COVERING INDEX run_open (shard=? AND state=? AND epoch=? AND due_at<?)",
            "run_open",
            "run range run_open",
        ],
        // Its place in the index: SQLite and PostgreSQL go on behind it.
        "long_running" => ["run USING INDEX run_open (shard=? AND state=? AND (epoch,due_at", "run_open", "run_open"],
        "delayed_cursor" => [
            "job_clock USING COVERING INDEX job_clock_delayed (delayed_job=?)",
            "job_clock_delayed",
            "job_clock ref job_clock_delayed",
        ],
        "delayed_cursors" => ["SEARCH c USING", "job_clock_delayed", "c ref job_clock_delayed"],
        "delayed_jobs" => [
            "job USING INDEX job_kind (schedule_kind=? AND shard=? AND rowid>?)",
            // By `job_delayed` or the primary key where the shard has many, by `job_kind` and a sort where it has few.
            "Index Scan using job_",
            "job range job_kind",
        ],
        "open_links" => ["run USING INDEX run_open (shard=? AND state=?)", "run_open", "run range run_open"],
        "active" | "open_of_backfills" => {
            ["run USING INDEX run_open (shard=? AND state=?)", "run_open", "run ref run_open"]
        }
        "unanswered" | "next_unanswered" | "agreed" | "not_agreed" => {
            ["run USING INDEX run_open (shard=? AND state=?)", "run_open", "run ref run_open"]
        }
        "open_runs" => ["run USING COVERING INDEX run_open (shard=? AND state<?)", "run_open", "run ref run_open"],
        "cursors" => [
            "job_clock USING PRIMARY KEY (shard=? AND (next_fire_at,job_id)>(?,?))",
            "Index Scan using job_clock_pkey",
            "job_clock range PRIMARY",
        ],
        "scheduled" => ["job USING INTEGER PRIMARY KEY (rowid>?)", "Index Scan using job_pkey", "job range PRIMARY"],
        "recorded" => [
            "run USING COVERING INDEX run_fire (fire_no=? AND job_id=? AND cause=? AND part=? AND attempt=?)",
            "using run_fire on run",
            "run eq_ref run_fire",
        ],
        "astray" => ["run USING INDEX run_open (shard=? AND state<?)", "run_open", "run ref run_open"],
        "summarize_passed" => {
            ["SEARCH r USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)", "Index Scan using run_pkey", "r range PRIMARY"]
        }
        "failing_too_often" => ["SEARCH j USING INTEGER PRIMARY KEY", "job_failure", "j eq_ref PRIMARY"],
        "old_alarms" => {
            ["alarm USING COVERING INDEX alarm_created (created_at<?)", "alarm_created", "alarm range alarm_created"]
        }
        "forgotten_ends" => ["SEARCH run USING INTEGER PRIMARY KEY", "Nested Loop", "run eq_ref PRIMARY"],
        "escalate" | "clear_marks" => {
            // PostgreSQL walks a table of 2,000 rows.
            ["SEARCH alarm USING INTEGER PRIMARY KEY", "on alarm", "alarm eq_ref PRIMARY"]
        }
        "old_audit" => ["audit USING COVERING INDEX audit_at (at<?)", "audit_at", "audit range audit_at"],
        "old_keys" => [
            "idempotency USING INDEX idempotency_created (created_at<?)",
            "idempotency_created",
            "idempotency range idempotency_created",
        ],
        "old_sessions" => {
            ["session USING INDEX session_expires (expires_at<?)", "session_expires", "session range session_expires"]
        }
        "old_throttles" => [
            "login_throttle USING INDEX login_throttle_until (until_at<?)",
            "login_throttle_until",
            "login_throttle range login_throttle_until",
        ],
        "grant_loops" | "granted_loops" | "renew_loops" | "renewed_loops" | "release_loops" => [
            "SEARCH loop_lease USING INTEGER PRIMARY KEY",
            "Index Scan using loop_lease_pkey",
            "loop_lease eq_ref PRIMARY",
        ],
        // PostgreSQL may read the table as a whole.
        "free_loops" | "loop_ends" | "watched_loops" => {
            ["SEARCH loop_lease USING INDEX loop_lease_shard (shard=?", "loop_lease", "loop_lease ref loop_lease_shard"]
        }
        "cancel_retries" => ["run USING INDEX run_fire", "Index Scan using run_fire", "run ref run_fire"],
        _ => ["SEARCH run USING INTEGER PRIMARY KEY", "Index Scan using run_pkey", "run eq_ref PRIMARY"],
    }
}

/// Statements on tables that have no rows here: each plan is as good.
const TABLES_ARE_EMPTY: [&str; 17] = [
    "insert_delayed",
    "move_input",
    "follow_ups",
    "retry_input",
    "keep_sets",
    "renew_sets",
    "add_traces",
    "add_sticky",
    "close_alarms",
    "old_alerts",
    "old_deliveries",
    "summarize_ended",
    "lock_limits",
    "taken_slots",
    "count_taken_slots",
    "free_slots",
    "stale_slots",
];

async fn explain(tx: &DatabaseTransaction, kind: Kind, name: &str, text: &str) -> String {
    let mut pieces = text.split('?');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    let values = values(name, kind);
    assert_eq!(text.matches('?').count(), values.len(), "{name}");
    for (index, (value, piece)) in (1..).zip(values.iter().zip(pieces)) {
        // On PostgreSQL the plan counts that is kept for all values.
        filled += &if kind == Kind::Postgres { format!("${index}{piece}") } else { format!("{value}{piece}") };
    }
    let question = match kind {
        Kind::Sqlite => format!("EXPLAIN QUERY PLAN {filled}"),
        Kind::Mariadb => format!("EXPLAIN {filled}"),
        Kind::Postgres => {
            tx.execute_unprepared("SET LOCAL plan_cache_mode = force_generic_plan").await.unwrap();
            tx.execute_unprepared(&format!("PREPARE {name} AS {filled}")).await.unwrap();
            format!("EXPLAIN EXECUTE {name}({})", values.join(","))
        }
    };
    let rows = tx.query_all_raw(Statement::from_string(tx.get_database_backend(), question)).await.unwrap();
    rows.iter().map(|row| line(row, kind)).collect::<Vec<_>>().join("\n")
}

/// SQLite's and PostgreSQL's own words; of MariaDB table, type and key.
pub(in crate::conformance) fn line(row: &QueryResult, kind: Kind) -> String {
    let column = |name| row.try_get::<Option<String>>("", name).unwrap().unwrap_or_default();
    match kind {
        Kind::Sqlite => row.try_get_by_index(3).unwrap(),
        Kind::Postgres => row.try_get_by_index(0).unwrap(),
        Kind::Mariadb => format!("{} {} {}", column("table"), column("type"), column("key")),
    }
}

/// A read of a small table as a whole is as good as any; a lock on all of it is not.
fn locks(name: &str) -> bool {
    ![
        "due",
        "due_triggers",
        "to_scan",
        "overdue",
        "orphans",
        "waiting",
        "active",
        "outdated",
        "first_runs",
        "unanswered",
        "next_unanswered",
        "pending",
        "late_starts",
        "agreed",
        "not_agreed",
        "long_running",
        "to_check",
        "open_runs",
        "astray",
        "delayed_cursor",
        "delayed_cursors",
        "delayed_jobs",
        "open_links",
        "cursors",
        "scheduled",
        "recorded",
        "open_of_backfills",
        "old_alarms",
        "old_audit",
        "old_keys",
        "old_sessions",
        "old_throttles",
        "summarize_passed",
        "granted_loops",
        "renewed_loops",
        "free_loops",
        "loop_ends",
        "watched_loops",
    ]
    .contains(&name)
}

async fn check(fixture: &Fixture, kind: Kind, which: impl Fn(&str) -> bool) {
    let tx = fixture.raw.begin().await.unwrap();
    for (name, text) in texts(tx.get_database_backend()) {
        if TABLES_ARE_EMPTY.contains(&name) || !which(name) {
            continue;
        }
        let plan = explain(&tx, kind, name, &text).await;
        let expected = expected(name)[kind as usize];
        assert!(plan.contains(expected), "{name} should have `{expected}`:\n{plan}\n{text}");
    }
    tx.rollback().await.unwrap();
}

databases! {
    // covers: 001-2, 003-3
    async fn each_hot_statement_uses_its_key(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        fill(&fixture, 5_000).await;
        if db.kind() == Kind::Mariadb {
            fixture.sql("ANALYZE TABLE job, job_clock, loop_lease, run").await;
        } else {
            fixture.sql("ANALYZE").await;
        }
        check(&fixture, db.kind(), |_| true).await;
    }

    async fn those_that_lock_do_so_on_a_new_database_too(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        // PostgreSQL reads a small table as a whole, and waits for no lock by that.
        if db.kind() != Kind::Postgres {
            check(&fixture, db.kind(), locks).await;
            fill(&fixture, 25).await;
            check(&fixture, db.kind(), locks).await;
        }
    }
}
