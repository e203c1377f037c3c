use std::sync::Arc;

use carillon_scheduler::{ScheduleContext, ScheduleDraft};

use crate::audit::compare::*;
use carillon_store::job::history::Change;

/// A whole minute.
const T: Millis = 1_760_000_040_000;

fn schedule(seconds: i64) -> Schedule {
    let none: &[Arc<carillon_scheduler::Calendar>] = &[];
    // Instants before `T` too.
    let facts = ScheduleContext { calendars: none, ..ScheduleContext::from_anchor(T - 60_000) };
    Schedule::parse(&ScheduleDraft::fixed_rate(seconds), &facts).unwrap()
}

fn era(from: i64, to: Option<i64>, seconds: i64, action: &str) -> Era {
    let at = T + from * 1000;
    let change = Change { at, actor: "anna".into(), action: action.into() };
    let rules = VersionRules::Known {
        schedule: Box::new(schedule(seconds)),
        calendars: Default::default(),
        enabled: !matches!(action, "disable" | "pause"),
        is_local: false,
    };
    let to = to.map(|to| T + to * 1000);
    let version = DefinitionVersion { from: at, to, begun_by: Some(change), revision: Some(1), rules };
    Era { version, kept: None, limit: None }
}

/// Seconds after `T`: where records are, and what is found of the first 20 s.
fn found(eras: &[Era], fires: &[i64], cursor: Option<i64>) -> Vec<(&'static str, &'static str, i64, u32)> {
    let records = Records { fires: fires.iter().map(|at| T + at * 1000).collect(), ..Records::default() };
    let input = CompareInput {
        job_id: 7,
        from: T,
        to: T + 20_000,
        cursor: cursor.map(|at| T + at * 1000),
        is_deleted: false,
        resume_from: cursor.is_none().then_some(T + 8_000),
        eras,
        records: &records,
        budget: 1000,
    };
    let (list, reached) = compare(&input);
    assert_eq!(reached, input.to);
    let short = |it: &Difference| (it.kind.as_str(), it.reason.as_str(), (it.from - T) / 1000, it.count);
    list.iter().map(short).collect()
}

#[test]
fn neighbours_that_are_missing_for_one_reason_are_one_difference() {
    let eras = [era(0, None, 5, "create")];
    assert_eq!(found(&eras, &[5, 10, 15, 20], Some(25)), []);
    assert_eq!(found(&eras, &[5, 20], Some(25)), [("missing", "unexplained", 10, 2)]);
    assert_eq!(
        found(&eras, &[10, 20], Some(25)),
        [("missing", "unexplained", 5, 1), ("missing", "unexplained", 15, 1)]
    );
    assert_eq!(found(&eras, &[5, 10], Some(15)), [("missing", "not_planned", 15, 2)]);
    assert_eq!(found(&eras, &[5, 6, 10, 15, 20], Some(25)), [("extra", "unexplained", 6, 1)]);
}

#[test]
fn an_edit_begins_behind_what_was_marked_before_it() {
    let mut eras = [era(0, Some(10), 4, "create"), era(10, None, 3, "update")];
    assert_eq!(found(&eras, &[4, 8, 12, 15, 18], Some(21)), []);
    // The run of 16 s, by the old rate, had been marked ahead of its time: 12 and 15 s do not exist.
    let ahead = [4, 8, 16, 18];
    assert_eq!(found(&eras, &ahead, Some(21)).len(), 2);
    eras[1].kept = Some(T + 16_000);
    assert_eq!(found(&eras, &ahead, Some(21)), [("missing", "edited", 12, 2), ("extra", "edited", 16, 1)]);
}

#[test]
fn what_the_engine_paused_waits_and_is_recorded_when_it_goes_on() {
    let paused = [era(0, Some(9), 4, "create"), era(9, None, 4, "pause")];
    assert_eq!(found(&paused, &[4], None), [("missing", "paused", 8, 1), ("missing", "disabled", 12, 3)]);
    let resumed = [era(0, Some(9), 4, "create"), era(9, Some(17), 4, "pause"), era(17, None, 4, "enable")];
    assert_eq!(found(&resumed, &[4, 8, 12, 16, 20], Some(24)), []);
    assert_eq!(
        found(&resumed, &[4, 12, 16, 20], Some(24)),
        [("missing", "unexplained", 8, 1)],
        "it had to come after all"
    );
}

// covers: G2
#[test]
fn instants_after_the_last_fire_are_explained_only_if_all_fires_are_on_record() {
    let mut eras = [era(0, Some(12), 5, "create"), era(12, None, 5, "update")];
    assert_eq!(found(&eras, &[5], None), [("missing", "unexplained", 10, 3)], "an edit took the last fire away");
    eras[1].limit = limit(0, 5);
    assert_eq!(found(&eras, &[5], None), [("missing", "unexplained", 10, 1), ("missing", "used_up", 15, 2)]);
    eras[0].limit = limit(0, 5);
    assert_eq!(found(&eras, &[5], None), [("missing", "used_up", 10, 3)]);
    assert_eq!(found(&eras, &[5, 15], None), [("missing", "used_up", 10, 1), ("missing", "used_up", 20, 1)]);
}

fn limit(lacking: usize, last: i64) -> Option<FireLimit> {
    Some(FireLimit { lacking, last: T + last * 1000, skipped: 0, reason: GapReason::UsedUp })
}

// covers: G2
#[test]
fn as_many_instants_are_missing_as_the_limit_of_fires_lacks() {
    let mut eras = [era(-60, None, 5, "create")];
    eras[0].limit = limit(1, 5);
    assert_eq!(found(&eras, &[5], None), [("missing", "unexplained", 10, 1), ("missing", "used_up", 15, 2)]);
    // The one that is missing lies before the last one.
    eras[0].limit = limit(1, 10);
    assert_eq!(found(&eras, &[10], None), [("missing", "unexplained", 5, 1), ("missing", "used_up", 15, 2)]);
    // It lies before the span.
    eras[0].limit = limit(1, -10);
    assert_eq!(found(&eras, &[], None), [("missing", "used_up", 5, 4)]);
    // It was disabled between the last fire and this definition.
    let mut eras = [era(0, Some(11), 5, "disable"), era(11, None, 5, "enable")];
    eras[1].limit = limit(1, -10);
    let found_after = found(&eras, &[], None);
    assert_eq!(found_after[1..], [("missing", "unexplained", 15, 1), ("missing", "used_up", 20, 1)], "{found_after:?}");
    let mut eras = [era(-60, None, 5, "create")];
    // Two instants after the last fire were skipped; their range lies before the span.
    eras[0].limit = Some(FireLimit { skipped: 2, ..limit(1, -10).unwrap() });
    assert_eq!(found(&eras, &[], None), [("missing", "unexplained", 5, 1), ("missing", "used_up", 10, 3)]);
}

#[test]
fn a_job_that_fires_too_often_is_looked_at_in_part() {
    let eras = [era(0, None, 1, "create")];
    let records = Records::default();
    let input = CompareInput {
        is_deleted: false,
        job_id: 7,
        from: T,
        to: T + 20_000,
        cursor: Some(T + 30_000),
        resume_from: None,
        eras: &eras,
        records: &records,
        budget: 5,
    };
    let (list, reached) = compare(&input);
    assert_eq!((list[0].count, reached), (5, T + 5_000));
}
