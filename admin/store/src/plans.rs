//! The statements that run all day, by name: a test asks each database how it would run them, as they stand.

use sea_orm::DbBackend;

use super::{
    adopt, astray, attend, audit_gap, backfill, check, choice, claim, definition, expand, give_back, in_doubt, mark,
    pending, prune, prune_rest, run_lock, settle, watch,
};

/// Name and text, parameters as `?`.
pub fn texts(backend: DbBackend) -> Vec<(&'static str, &'static str)> {
    let of = |text: super::dialect::Text| text.of(backend);
    vec![
        ("due", claim::DUE),
        ("advance", of(claim::text::ADVANCE)),
        ("record", of(claim::text::RECORD)),
        ("unchanged", of(claim::text::UNCHANGED)),
        ("orphans", of(adopt::ORPHANS)),
        ("new", of(adopt::NEW)),
        ("adopt", of(adopt::ADOPT)),
        ("waiting", adopt::WAITING),
        ("mark", of(mark::MARK)),
        ("add_parts", of(expand::ADD_PARTS)),
        ("outdated", of(definition::OUTDATED)),
        ("unmark", of(give_back::UNMARK)),
        ("cancel", of(attend::CANCEL)),
        ("accept", of(settle::text::ACCEPT)),
        ("settle_successes", of(settle::text::SETTLE_SUCCESSES)),
        ("settle", of(settle::text::SETTLE)),
        ("lock_jobs", of(run_lock::LOCK_JOBS)),
        ("lock_runs", of(run_lock::LOCK_RUNS)),
        ("cancel_retries", of(settle::follow::CANCEL_RETRIES)),
        ("retry", of(settle::follow::RETRY)),
        ("active", of(choice::ACTIVE)),
        ("unanswered", in_doubt::UNANSWERED),
        ("next_unanswered", attend::NEXT_UNANSWERED),
        // Made for a table; the test that asks runs once.
        ("prune", String::leak(super::dialect::delete_by_id(backend, "run", "id"))),
        ("lock_going", of(prune::LOCK_GOING)),
        ("pending", pending::PENDING),
        ("oldest_waiting", pending::OLDEST),
        ("lock_pending", of(pending::LOCK_PENDING)),
        ("flag", of(pending::FLAG)),
        ("agreed", watch::AGREED),
        ("not_agreed", watch::NOT_AGREED),
        ("long_running", of(check::LONG_RUNNING)),
        ("to_check", String::leak(check::to_check(backend))),
        ("astray", of(astray::ASTRAY)),
        ("delayed_cursor", settle::chain::DELAYED_CURSOR),
        ("delayed_cursors", of(settle::chain::DELAYED_CURSORS)),
        ("delayed_jobs", of(settle::chain::DELAYED_JOBS)),
        ("open_links", of(settle::chain::OPEN_LINKS)),
        ("cursors", of(audit_gap::CURSORS)),
        ("recorded", of(audit_gap::RECORDED)),
        ("open_of_backfills", of(backfill::OPEN_OF_BACKFILLS)),
        ("open_runs", of(attend::OPEN_RUNS)),
        ("old_alarms", prune_rest::OLD_ALARMS),
        ("old_audit", prune_rest::OLD_AUDIT),
        ("old_keys", prune_rest::OLD_KEYS),
        ("old_sessions", prune_rest::OLD_SESSIONS),
        ("old_throttles", prune_rest::OLD_THROTTLES),
    ]
}
