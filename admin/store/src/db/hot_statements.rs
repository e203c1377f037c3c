//! The statements that run all day, by name: a test asks each database how it would run them, as they stand.

use carillon_scheduler::{AlarmKind, AuditAction, AuditObjectKind, Cause, RunState};
use sea_orm::{DbBackend, Value};

use crate::alarm::alarms::{self, AlarmFilter};
use crate::alarm::{escalation, late_starts};
use crate::alert::routing;
use crate::app::limits::{audit as limits, take};
use crate::audit::list::{self as audit, AuditFilter, AuditKey};
use crate::backfill::release;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::filter::Search;
use crate::db::sql::template;
use crate::job::filter::{JobFilter, JobSort};
use crate::job::{job_row, list as jobs, pause};
use crate::lease::loops;
use crate::people::grants::VisibleApps;
use crate::report::summarize;
use crate::retention::{prune_rest, prune_runs};
use crate::run::advance::fixed_delay;
use crate::run::open::{checked, misplaced, overdue, overlapping, running, unanswered};
use crate::run::settle::{consequences, statements};
use crate::run::trigger::delayed::{insert, release as delayed};
use crate::run::view::filter::{self, RunFilter};
use crate::run::view::{dashboard, list, records};
use crate::run::{adopt, cancel, candidate_sets, claim, expand, follow_up, lock, mark, new_runs, poll, route, unmark};

/// Name and text, parameters as `?`.
pub fn texts(backend: DbBackend) -> Vec<(&'static str, String)> {
    let bulk: [(&str, &Bulk); 54] = [
        ("to_scan", &poll::TO_SCAN),
        ("overdue", &poll::OVERDUE),
        ("advance", &claim::MOVE_CURSORS),
        ("unchanged", &claim::UNCHANGED),
        ("record", &claim::INSERT_CLAIMED),
        ("new_runs", &new_runs::NEW_RUNS),
        ("new_children", &new_runs::NEW_CHILDREN),
        ("adopt", &adopt::ADOPT),
        ("insert_delayed", &insert::INSERT_DELAYED),
        ("insert_released", &delayed::INSERT_RELEASED),
        ("move_input", &delayed::MOVE_INPUT),
        ("mark", &mark::MARK),
        ("mark_limited", &mark::MARK_LIMITED),
        ("lock_limits", &take::LOCK_RULES),
        ("taken_slots", &take::TAKEN),
        ("count_taken_slots", &take::COUNT_TAKEN),
        ("add_parts", &expand::INSERT_PARTS),
        ("outdated", &job_row::OUTDATED),
        ("unmark", &unmark::UNMARK),
        ("cancel", &cancel::CANCEL),
        ("accept", &statements::ACCEPT),
        ("settle_successes", &statements::SETTLE_SUCCESSES),
        ("settle", &statements::SETTLE),
        ("lock_jobs", &lock::LOCK_JOBS),
        ("lock_runs", &lock::LOCK_RUNS),
        ("cancel_retries", &consequences::CANCEL_RETRIES),
        ("retry", &consequences::RETRY),
        ("retry_input", &consequences::RETRY_INPUT),
        ("follow_ups", &follow_up::INSERT_FOLLOW_UPS),
        ("active", &route::OPEN_BY_ADDRESS),
        ("keep_sets", &candidate_sets::INSERT),
        ("renew_sets", &candidate_sets::RENEW),
        ("add_traces", &route::INSERT_TRACES),
        ("add_sticky", &route::INSERT_STICKY),
        ("lock_going", &prune_runs::LOCK_PRUNABLE),
        ("lock_pending", &overdue::LOCK_PENDING),
        ("flag", &overdue::FLAG),
        ("note_overlap", &overlapping::NOTE_OVERLAP),
        ("close_alarms", &escalation::CLOSE_ALARMS),
        ("escalate", &escalation::ESCALATE),
        ("clear_marks", &routing::CLEAR_MARKS),
        ("astray", &misplaced::MISPLACED),
        ("delayed_cursors", &fixed_delay::DELAYED_CURSORS),
        ("recorded", &records::RECORDED),
        ("open_of_backfills", &release::OPEN_OF_BACKFILLS),
        ("open_runs", &cancel::OPEN_RUNS),
        ("grant_loops", &loops::GRANT),
        ("granted_loops", &loops::GRANTED),
        ("renew_loops", &loops::RENEW),
        ("renewed_loops", &loops::RENEWED),
        ("release_loops", &loops::RELEASE),
        ("free_loops", &loops::FREE),
        ("loop_ends", &loops::ENDS),
        ("watched_loops", &loops::WATCHED),
    ];
    let plain: [(&str, &str); 33] = [
        ("due", claim::DUE),
        ("orphans", adopt::ORPHANS),
        ("new", adopt::NEW_ORPHANS),
        ("waiting", adopt::WAITING),
        ("due_triggers", delayed::DUE_TRIGGERS),
        ("unanswered", unanswered::UNANSWERED),
        ("next_unanswered", cancel::NEXT_UNANSWERED),
        ("prune", &template::delete_by_id(backend, "run", "id")),
        ("free_slots", &template::delete_by_id(backend, "limit_slot", "run_id")),
        ("stale_slots", limits::STALE_SLOTS),
        ("pending", overdue::PENDING),
        ("oldest_waiting", overdue::OLDEST),
        ("late_starts", late_starts::LATE_STARTS),
        ("agreed", running::AGREED),
        ("not_agreed", running::NOT_AGREED),
        ("long_running", checked::LONG_RUNNING),
        ("to_check", &checked::to_check()),
        ("delayed_cursor", fixed_delay::DELAYED_CURSOR),
        ("delayed_jobs", fixed_delay::DELAYED_JOBS),
        ("open_links", fixed_delay::OPEN_LINKS),
        ("forgotten_ends", &follow_up::forgotten(backend)),
        ("cursors", records::cursors(backend)),
        ("scheduled", records::SCHEDULED),
        ("old_alarms", prune_rest::OLD_ALARMS),
        ("old_alerts", prune_rest::OLD_ALERTS),
        ("old_deliveries", prune_rest::OLD_DELIVERIES),
        ("old_audit", prune_rest::OLD_AUDIT),
        ("old_keys", prune_rest::OLD_KEYS),
        ("old_sessions", prune_rest::OLD_SESSIONS),
        ("old_throttles", prune_rest::OLD_THROTTLES),
        ("failing_too_often", pause::FAILING_TOO_OFTEN),
        ("summarize_passed", summarize::PASSED),
        ("summarize_ended", summarize::OPEN),
    ];
    let plain = plain.iter().map(|(name, text)| (*name, template::render(backend, text).into_owned()));
    plain.chain(bulk.iter().map(|(name, bulk)| (*name, bulk.sql(backend)))).collect()
}

/// Lists as the console and the API ask for them, with their values, on their first or on a later page.
pub fn lists(backend: DbBackend) -> Vec<(&'static str, String)> {
    let text = |(text, values): (String, Vec<Value>)| template::statement(backend, &text, values).to_string();
    let search = Search { bottom: Some(9_000) };
    let whole = Search { bottom: None };
    let run = RunFilter { after: Some(15_000), limit: 50, ..RunFilter::default() };
    let runs = |filter: &RunFilter| list::page_rows(filter::conditions(backend, filter), filter, search);
    let job = JobFilter { limit: 50, ..JobFilter::default() };
    let alarm = AlarmFilter { limit: 50, ..AlarmFilter::default() };
    let audit = AuditFilter { limit: 50, ..AuditFilter::default() };
    let words = |words: &str| Some(words.to_owned());
    let first_of = |(text, mut values): (String, Vec<Value>)| {
        values.extend([51_i64.into(), 0_i64.into()]);
        (format!("{text} LIMIT ? OFFSET ?"), values)
    };
    vec![
        ("runs_of_a_job", text(runs(&RunFilter { job_id: Some(5), ..run.clone() }))),
        ("runs_of_an_app", text(runs(&RunFilter { app: words("app"), ..run.clone() }))),
        ("runs_by_cause", text(runs(&RunFilter { cause: Some(Cause::Api), ..run.clone() }))),
        ("runs_by_time", text(runs(&RunFilter { from: Some(5), to: Some(9), ..run.clone() }))),
        ("runs_by_state", text(runs(&RunFilter { states: vec![RunState::Killed, RunState::Lost], ..run }))),
        ("paused_jobs", text(jobs::page_rows(backend, &JobFilter { enabled: Some(false), ..job.clone() }, whole, 0))),
        (
            "count_of_paused_jobs",
            text(jobs::count(backend, &JobFilter { enabled: Some(false), ..job.clone() }, 10_000, 0)),
        ),
        (
            "jobs_by_text",
            text(jobs::found_ids(backend, &JobFilter { text: words("abc"), ..job.clone() }, search, 10_000, 0)),
        ),
        ("jobs_by_kind", text(jobs::page_rows(backend, &JobFilter { kind: words("cron"), ..job.clone() }, search, 0))),
        ("jobs_of_an_app", text(jobs::page_rows(backend, &JobFilter { app: words("app"), ..job.clone() }, whole, 0))),
        ("jobs_with_a_tag", text(jobs::page_rows(backend, &JobFilter { tag: words("t7"), ..job.clone() }, whole, 0))),
        ("jobs_by_name", text(first_of(jobs::sorted_ids(backend, &JobFilter { sort: JobSort::Name, ..job }, 0)))),
        ("alarms_of_a_job", text(alarms::list_text(backend, &AlarmFilter { job_id: Some(5), ..alarm.clone() }))),
        (
            "alarms_of_a_kind",
            text(alarms::list_text(backend, &AlarmFilter { kinds: vec![AlarmKind::Paused], ..alarm.clone() })),
        ),
        ("open_alarms", text(alarms::list_text(backend, &AlarmFilter { open: Some(true), ..alarm.clone() }))),
        ("closed_alarms", text(alarms::list_text(backend, &AlarmFilter { open: Some(false), ..alarm.clone() }))),
        ("escalated_alarms", text(alarms::list_text(backend, &AlarmFilter { escalated: Some(true), ..alarm }))),
        ("audit_of_an_app", text(audit::list_text(&AuditFilter { apps: VisibleApps::Only(vec![7]), ..audit.clone() }))),
        ("audit_of_an_actor", text(audit::list_text(&AuditFilter { actor: words("7"), ..audit.clone() }))),
        (
            "audit_of_an_action",
            text(audit::list_text(&AuditFilter { actions: vec![AuditAction::Kill], ..audit.clone() })),
        ),
        ("audit_of_a_source", text(audit::list_text(&AuditFilter { source: words("7"), ..audit.clone() }))),
        ("audit_of_an_object", text(audit::list_text(&AuditFilter::about(AuditObjectKind::Job, 1_000_007)))),
        (
            "audit_page",
            text(audit::list_text(&AuditFilter { after: Some(AuditKey { at: 100, id: 1 }), ..audit.clone() })),
        ),
        ("audit_since", text(audit::list_text(&AuditFilter { from: Some(1_990), ..audit }))),
        ("stopped_jobs", text((dashboard::paused_by_engine(&VisibleApps::All), vec![8.into()]))),
    ]
}
