//! Runs that hand in items: each item in one delivery, executed as often as it may be, with an outcome that an executor has seen.

use super::*;
use crate::record::{DeliveryRow, ItemRow, ItemState, MapRow};

const ROOT: i64 = 5_000;
const FIRST: i64 = 6_000;
const SECOND: i64 = 6_001;
const REDUCE: i64 = 6_009;

/// Four items in two deliveries, which all succeed, and a run that reads the results.
fn with_map(history: &mut History) {
    history.jobs.push(Job { group: "map".into(), schedule: Schedule::None, ..job(60, 0) });
    add_run(history, &RunRow { cause: 2, ..run(ROOT, 60, 3_000) });
    for (id, delivery, at) in [(FIRST, 1, 3_100), (SECOND, 2, 3_200)] {
        let row = RunRow { cause: 6, fire_no: ROOT, part: delivery, ..run(id, 60, at) };
        add_run(history, &row);
        let first_item = 2 * (delivery - 1);
        history.deliveries.push(DeliveryRow { run_id: ROOT, delivery, first_item, items: 2, ended: true });
        for item in [first_item, first_item + 1] {
            history.items.push(ItemRow { run_id: ROOT, item, state: ItemState::Succeeded });
            execute(history, id, item, at + 13 + 8 * (item - first_item));
        }
    }
    let row = RunRow { cause: 6, fire_no: ROOT, ..run(REDUCE, 60, 3_300) };
    add_run(history, &row);
    history.events.push(Event { item: 4, state: "0".into(), ..event(What::Reduced, &row, 3_320, "e1") });
    history.maps.push(MapRow {
        run_id: ROOT,
        items: 4,
        reduces: true,
        released: 4,
        in_flight: 0,
        failed: 0,
        reduce_run_id: Some(REDUCE),
    });
}

fn add_run(history: &mut History, row: &RunRow) {
    for (what, after) in
        [(What::Receive, 10), (What::Answer, 12), (What::Start, 12), (What::End, 30), (What::Acked, 40)]
    {
        // A delivery has no handler of its own.
        let is_delivery = row.cause == 6 && row.part > 0;
        if !(is_delivery && matches!(what, What::Start | What::End)) {
            history.events.push(event(what, row, row.scheduled_at + after, "e1"));
        }
    }
    history.runs.push(row.clone());
}

fn execute(history: &mut History, delivery: i64, item: i64, at: Millis) {
    let row = history.row(delivery).clone();
    for (what, after) in [(What::ItemStart, 0), (What::ItemEnd, 5), (What::ItemAcked, 7)] {
        history.events.push(Event { root: ROOT, item, ..event(what, &row, at + after, "e1") });
    }
}

/// Item 3 has failed at its executor, and so has its delivery.
fn fail_the_last(history: &mut History) {
    history.items[3].state = ItemState::Failed;
    history.maps[0].failed = 1;
    let of_item = |event: &&mut Event| event.item == 3 && matches!(event.what, What::ItemEnd | What::ItemAcked);
    history.events.iter_mut().filter(of_item).for_each(|event| event.code = 500);
    let of_run = |event: &&mut Event| event.run == SECOND && event.what == What::Acked;
    history.events.iter_mut().filter(of_run).for_each(|event| event.code = 500);
    let reduced = history.events.iter_mut().find(|event| event.what == What::Reduced);
    reduced.unwrap().state = "1".into();
    let row = history.row(SECOND);
    (row.state, row.result_code, row.reason) = (State::Failed, Some(500), Some("result".into()));
}

fn without_reduce(history: &mut History) {
    history.maps[0].reduces = false;
    history.maps[0].reduce_run_id = None;
    history.runs.retain(|run| run.id != REDUCE);
    history.events.retain(|event| event.run != REDUCE);
}

fn event_of(history: &mut History, what: What, run: i64) -> &mut Event {
    history.events.iter_mut().find(|event| event.what == what && event.run == run).unwrap()
}

#[track_caller]
fn assert_of_map(expected: &[Figure], change: impl FnOnce(&mut History)) {
    assert_flagged(expected, |history| {
        with_map(history);
        change(history);
        history.events.sort_by_key(|event| event.at);
    });
}

#[test]
fn items_in_order_are_no_anomaly() {
    assert_of_map(&[], |_| ());
    // The run that reads the results decides.
    assert_of_map(&[], fail_the_last);
    assert_of_map(&[], |history| {
        fail_the_last(history);
        without_reduce(history);
        history.row(ROOT).state = State::Failed;
    });
    let mut history = flawless();
    with_map(&mut history);
    let totals = check(&history).totals;
    let names = ["maps", "maps_delivered", "maps_ended", "items", "items_succeeded", "item_starts", "reduces"];
    assert_eq!(names.map(|name| totals[name]), [1, 1, 1, 4, 4, 4, 1]);
}

#[test]
fn a_run_that_was_given_up_delivers_nothing() {
    let undelivered = |history: &mut History| {
        without_reduce(history);
        history.runs.retain(|run| run.cause != 6);
        history.events.retain(|event| event.run != FIRST && event.run != SECOND);
        history.deliveries.clear();
        history.items.iter_mut().for_each(|item| item.state = ItemState::Waiting);
        history.maps[0].released = 0;
    };
    assert_of_map(&[], |history| {
        undelivered(history);
        history.row(ROOT).state = State::Failed;
    });
    assert_of_map(&[Figure::ItemMissing], undelivered);
}

#[test]
fn an_item_that_is_executed_too_often() {
    assert_of_map(&[Figure::ItemTwice], |history| execute(history, SECOND, 3, 3_230));
    // With retries another delivery of it may, unless its success was taken long before.
    let again = |at: Millis| {
        move |history: &mut History| {
            history.jobs[2].retries = 1;
            let second = RunRow { attempt: 2, ..history.row(SECOND).clone() };
            add_run(history, &RunRow { id: 6_002, scheduled_at: at, ..second });
            execute(history, 6_002, 3, at + 15);
        }
    };
    assert_of_map(&[], again(3_240));
    // Results were read before it ended, too.
    assert_of_map(&[Figure::ItemTwice, Figure::ItemEarly], again(30_000));
}

#[test]
fn deliveries_that_overlap_or_leave_items_out() {
    assert_of_map(&[Figure::ItemTwice], |history| {
        history.deliveries[1].first_item = 1;
        history.deliveries[1].items = 3;
    });
    assert_of_map(&[Figure::ItemMissing], |history| {
        without_reduce(history);
        history.maps[0].items = 5;
    });
    assert_of_map(&[Figure::Phantom], |history| execute(history, FIRST, 7, 3_120));
    assert_of_map(&[Figure::Phantom, Figure::ItemTwice], |history| execute(history, FIRST, 3, 3_120));
}

#[test]
fn items_before_their_time_or_after_it() {
    assert_of_map(&[Figure::ItemEarly], |history| event_of(history, What::End, ROOT).at = 3_900);
    assert_of_map(&[Figure::ItemEarly], |history| event_of(history, What::ItemEnd, SECOND).at = 3_900);
    // The answer to its result was lost.
    assert_of_map(&[], |history| event_of(history, What::Acked, SECOND).at = 3_900);
    // One that was given up may end later.
    assert_of_map(&[], |history| {
        event_of(history, What::ItemEnd, SECOND).at = 6_900;
        history.row(SECOND).finished_at = Some(6_900);
    });
    assert_of_map(&[Figure::ItemAfterEnd], |history| event_of(history, What::Acked, FIRST).at = 3_090);
}

#[test]
fn outcomes_that_no_executor_has_seen() {
    assert_of_map(&[Figure::ItemOutcome], |history| history.forget(FIRST, &[What::ItemEnd]));
    assert_of_map(&[Figure::ItemOutcome, Figure::MapEnd], |history| {
        without_reduce(history);
        history.items[0].state = ItemState::Failed;
    });
    assert_of_map(&[Figure::ItemOutcome], |history| event_of(history, What::Reduced, REDUCE).item = 3);
    assert_of_map(&[Figure::ItemOutcome], |history| history.forget(REDUCE, &[What::Reduced]));
    assert_of_map(&[Figure::ItemMissing, Figure::ItemOutcome], |history| history.items[0].state = ItemState::Retrying);
}

#[test]
fn a_wrong_end_or_none() {
    assert_of_map(&[Figure::MapEnd], |history| history.row(ROOT).state = State::Failed);
    assert_of_map(&[Figure::MapEnd], |history| history.deliveries[0].ended = false);
    assert_of_map(&[Figure::MapEnd], |history| {
        fail_the_last(history);
        without_reduce(history);
    });
    // A success that came late may have counted as a failure.
    assert_of_map(&[], |history| {
        history.row(ROOT).state = State::Failed;
        history.row(REDUCE).finished_at = Some(9_000);
    });
    assert_of_map(&[Figure::CbLost, Figure::Stuck], |history| history.row(ROOT).state = State::Running);
}
