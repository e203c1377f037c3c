//! Jobs whose fires are counted: all of them are on record before the schedule ends, and no more.

use super::*;

/// Job 1 fires each 2 s, and may fire this often.
fn counted(history: &mut History, most: usize, recorded: usize) {
    history.jobs[0].group = "counted".into();
    history.jobs[0].draft = serde_json::json!({"schedule": {"max_fires": most}});
    let last = recorded as Millis * 2_000;
    history.runs.retain(|run| run.job_id != 1 || run.fire_no <= last);
    history.events.retain(|event| event.job != 1 || event.at <= last + 1_000);
}

#[test]
fn a_schedule_ends_with_its_last_fire() {
    assert_flagged(&[], |history| counted(history, 5, 5));
}

#[test]
fn a_fire_that_was_taken_away_is_missing() {
    assert_flagged(&[Figure::MissedUnrecorded], |history| counted(history, 5, 4));
}

#[test]
fn a_fire_too_many_is_found() {
    assert_flagged(&[Figure::Phantom], |history| counted(history, 4, 5));
}
