//! Runs of a workflow: each node once, none before its join holds, and the end that its nodes give the run.

use serde_json::json;

use super::*;

const FLOW: i64 = 5_000;
const A: i64 = 6_000;
const B: i64 = 6_001;
const AFTER_BOTH: i64 = 6_002;

/// `n02` after `n00` and `n01`, `n03` after a failure of `n00`. All three that run succeed, in their order.
fn with_flow(history: &mut History) {
    let nodes = json!({
        "n00": {}, "n01": {}, "n02": {"after": ["n00", "n01"]}, "n03": {"after": [{"node": "n00", "on": "failure"}]},
    });
    let flow = Job {
        group: "flow".into(),
        schedule: Schedule::None,
        draft: json!({"workflow": {"nodes": nodes}}),
        ..job(50, 0)
    };
    history.jobs.extend([flow, Job { group: "step".into(), schedule: Schedule::None, ..job(51, 0) }]);
    let row = RunRow { cause: 2, fire_no: FLOW, sends: 0, marked_at: None, address: None, ..run(FLOW, 50, 3_000) };
    history.runs.push(row);
    for (id, place, at) in [(A, 0, 3_100), (B, 1, 3_200), (AFTER_BOTH, 2, 3_300)] {
        add(history, id, place, at);
    }
}

fn add(history: &mut History, id: i64, place: i64, at: Millis) {
    let row = RunRow { cause: 5, fire_no: (FLOW << 10) + place, ..run(id, 51, at) };
    for (what, after) in
        [(What::Receive, 10), (What::Answer, 12), (What::Start, 12), (What::End, 30), (What::Acked, 40)]
    {
        history.events.push(event(what, &row, at + after, "e3"));
    }
    history.runs.push(row);
}

/// Its executor says so.
fn fail(history: &mut History, id: i64) {
    let row = history.row(id);
    (row.state, row.result_code, row.reason) = (State::Failed, Some(500), Some("result".into()));
    let of_run = |event: &&mut Event| event.run == id && matches!(event.what, What::End | What::Acked);
    history.events.iter_mut().filter(of_run).for_each(|event| event.code = 500);
}

fn drop_run(history: &mut History, id: i64) {
    history.runs.retain(|run| run.id != id);
    history.events.retain(|event| event.run != id);
}

#[track_caller]
fn assert_of_flow(expected: &[Figure], change: impl FnOnce(&mut History)) {
    assert_flagged(expected, |history| {
        with_flow(history);
        change(history);
    });
}

#[test]
fn a_workflow_in_order_is_no_anomaly() {
    assert_of_flow(&[], |_| ());
    // The handler of a failure runs, the join does not, and the run has failed.
    assert_of_flow(&[], |history| {
        fail(history, A);
        drop_run(history, AFTER_BOTH);
        add(history, 6_003, 3, 3_400);
        history.row(FLOW).state = State::Failed;
    });
}

#[test]
fn a_node_that_is_missing_or_there_twice() {
    assert_of_flow(&[Figure::NodeMissing, Figure::FlowEnd], |history| drop_run(history, AFTER_BOTH));
    let twice = flagged(|history| {
        with_flow(history);
        add(history, 6_009, 2, 3_500);
    });
    assert!(twice.contains(&Figure::NodeTwice), "{twice:?}");
}

#[test]
fn a_node_that_starts_before_its_join_holds() {
    assert_of_flow(&[Figure::JoinEarly], |history| add(history, 6_003, 3, 3_400));
    // Both parents succeed, one of them after it was received.
    assert_of_flow(&[Figure::JoinEarly], |history| {
        let mut events = history.events.iter_mut();
        events.find(|event| event.run == B && event.what == What::End).unwrap().at = 3_350;
    });
}

#[test]
fn a_wrong_end() {
    assert_of_flow(&[Figure::FlowEnd], |history| history.row(FLOW).state = State::Failed);
    assert_of_flow(&[Figure::FlowEnd], |history| fail(history, AFTER_BOTH));
}

#[test]
fn a_success_that_came_late_may_have_counted_as_a_failure() {
    let late = |history: &mut History| {
        history.row(A).finished_at = Some(9_000);
        history.row(FLOW).state = State::Failed;
    };
    assert_of_flow(&[], |history| {
        late(history);
        drop_run(history, AFTER_BOTH);
        add(history, 6_003, 3, 3_400);
    });
    // Even so no run has a failed end whose failed node is made up.
    assert_of_flow(&[Figure::FlowEnd], |history| {
        late(history);
        history.row(FLOW).state = State::Unknown;
    });
}
