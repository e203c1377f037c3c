//! The statements that run all day, by name: a test asks each database how it would run them, as they stand.

use sea_orm::DbBackend;

use crate::job::job_row;
use crate::retention::prune_rest;
use crate::run::open::{checked, misplaced, overdue, running, unanswered};
use crate::run::view::records;
use crate::run::{adopt, broadcast, cancel, claim, lock, mark, route, unmark};

/// Name and text, parameters as `?`.
pub fn texts(backend: DbBackend) -> Vec<(&'static str, &'static str)> {
    let of = |text: crate::db::dialect::Text| text.of(backend);
    vec![
        ("due", claim::DUE),
        ("advance", of(crate::run::claim_statements::ADVANCE)),
        ("record", of(crate::run::claim_statements::RECORD)),
        ("unchanged", of(crate::run::claim_statements::UNCHANGED)),
        ("orphans", of(adopt::ORPHANS)),
        ("new", of(adopt::NEW)),
        ("adopt", of(adopt::ADOPT)),
        ("waiting", adopt::WAITING),
        ("mark", of(mark::MARK)),
        ("add_parts", of(broadcast::ADD_PARTS)),
        ("outdated", of(job_row::OUTDATED)),
        ("unmark", of(unmark::UNMARK)),
        ("cancel", of(cancel::CANCEL)),
        ("accept", of(crate::run::settle::statements::ACCEPT)),
        ("settle_successes", of(crate::run::settle::statements::SETTLE_SUCCESSES)),
        ("settle", of(crate::run::settle::statements::SETTLE)),
        ("lock_jobs", of(lock::LOCK_JOBS)),
        ("lock_runs", of(lock::LOCK_RUNS)),
        ("cancel_retries", of(crate::run::settle::follow_up::CANCEL_RETRIES)),
        ("retry", of(crate::run::settle::follow_up::RETRY)),
        ("active", of(route::ACTIVE)),
        ("unanswered", unanswered::UNANSWERED),
        ("next_unanswered", cancel::NEXT_UNANSWERED),
        // Made for a table; the test that asks runs once.
        ("prune", String::leak(crate::db::dialect::delete_by_id(backend, "run", "id"))),
        ("lock_going", of(crate::retention::prune_statements::LOCK_GOING)),
        ("pending", overdue::PENDING),
        ("oldest_waiting", overdue::OLDEST),
        ("lock_pending", of(overdue::LOCK_PENDING)),
        ("flag", of(overdue::FLAG)),
        ("agreed", running::AGREED),
        ("not_agreed", running::NOT_AGREED),
        ("long_running", of(checked::LONG_RUNNING)),
        ("to_check", String::leak(checked::to_check(backend))),
        ("astray", of(misplaced::ASTRAY)),
        ("delayed_cursor", crate::run::settle::fixed_delay::DELAYED_CURSOR),
        ("delayed_cursors", of(crate::run::settle::fixed_delay::DELAYED_CURSORS)),
        ("delayed_jobs", of(crate::run::settle::fixed_delay::DELAYED_JOBS)),
        ("open_links", of(crate::run::settle::fixed_delay::OPEN_LINKS)),
        ("cursors", of(records::CURSORS)),
        ("recorded", of(records::RECORDED)),
        ("open_of_backfills", of(crate::backfill::release::OPEN_OF_BACKFILLS)),
        ("open_runs", of(cancel::OPEN_RUNS)),
        ("old_alarms", prune_rest::OLD_ALARMS),
        ("old_audit", prune_rest::OLD_AUDIT),
        ("old_keys", prune_rest::OLD_KEYS),
        ("old_sessions", prune_rest::OLD_SESSIONS),
        ("old_throttles", prune_rest::OLD_THROTTLES),
    ]
}
