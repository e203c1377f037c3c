use super::ring::{Entry, Ring, second_of, slot_of};
use crate::time::Millis;

const START: Millis = 1_735_689_600_000;

/// One run a second for three minutes, run id = second; drained up to the start.
fn three_minutes() -> Ring<()> {
    let mut ring = Ring::new(1_000);
    ring.drain_due(START - 1);
    for second in 0..180 {
        assert!(ring.insert(START + second * 1_000, second, 0, ()));
    }
    ring
}

fn ids(entries: &[Entry<()>]) -> Vec<i64> {
    entries.iter().map(|entry| entry.run_id).collect()
}

/// After a stall of `ms` the drain returns all due entries in order, and no others.
fn stall(ms: i64) {
    let mut ring = three_minutes();
    assert_eq!(ids(&ring.drain_due(START + 500)), [0]);
    let until = START + 500 + ms;
    assert_eq!(ids(&ring.drain_due(until)), (1..=(500 + ms) / 1_000).collect::<Vec<_>>());
    for second in (500 + ms) / 1_000 + 1..180 {
        assert!(ring.drain_due(START + second * 1_000 - 1).is_empty(), "no entry is early");
        assert_eq!(ids(&ring.drain_due(START + second * 1_000)), [second]);
    }
    assert!(ring.is_empty());
}

// covers: 000-11
#[test]
fn a_stall_of_61_s_loses_nothing_and_fires_nothing_at_a_wrong_minute() {
    stall(61_000);
}

// covers: 000-11
#[test]
fn a_stall_of_121_s_loses_nothing_and_fires_nothing_at_a_wrong_minute() {
    stall(121_000);
}

// covers: 003-15
#[test]
fn every_slot_since_the_last_tick_is_read() {
    stall(1_900);
    stall(61_000);
}

// covers: 6.25
#[test]
fn a_whole_turn_ahead_is_not_due_now() {
    let mut ring = Ring::new(10);
    for turn in 0..4 {
        ring.insert(START + turn * 60_000, turn, 0, ());
    }
    assert_eq!(ids(&ring.drain_due(START)), [0]);
    assert!(ring.drain_due(START + 59_999).is_empty());
    assert_eq!(ids(&ring.drain_due(START + 125_000)), [1, 2]);
    assert_eq!(ring.next_due(), Some(START + 180_000));
}

/// Delays of 1, 6 and 13 s on 12 slots of 1 s. Our convention is "absolute second modulo slots": the start is
/// second 0. The description that the delays come from counts the first tick as slot 0, hence one less each.
// covers: 000-10, 6.23
#[test]
fn one_slot_convention() {
    let slots = |shift: i64| [1, 6, 13].map(|delay: i64| (delay - shift).rem_euclid(12));
    assert_eq!(slots(0), [1, 6, 1], "the formula as written, and our convention");
    assert_eq!(slots(1), [0, 5, 0], "the example of the description");
    assert_eq!([1, 6, 13, 61].map(slot_of), [1, 6, 13, 1], "ours, with 60 slots");
    assert_eq!(slot_of(second_of(-1)), 59);
}

// covers: 003-13
#[test]
fn each_second_has_its_slot_and_its_own_queue() {
    let mut ring = Ring::new(100);
    for run_id in 0..60 {
        ring.insert(START + run_id * 1_000 + 999, run_id, 0, ());
    }
    assert!(ring.slots.iter().all(|slot| slot.len() == 1));
    // Two entries of one second are in one slot, in the order of their due times.
    ring.insert(START + 7_000, 100, 0, ());
    let slot = &ring.slots[slot_of(second_of(START + 7_000))];
    assert_eq!(slot.values().map(|entry| entry.run_id).collect::<Vec<_>>(), [100, 7]);
}

// covers: 003-14
#[test]
fn a_run_is_in_once() {
    let mut ring = Ring::new(10);
    assert!(ring.insert(START, 1, 0, "first"));
    assert!(!ring.insert(START + 5_000, 1, 0, "second"));
    assert_eq!((ring.len(), ring.free()), (1, 9));
    assert_eq!(ring.drain_due(START + 9_000)[0].payload, "first");
    assert!(ring.insert(START, 1, 0, "again"), "a drained run may be inserted again");
    assert_eq!(ring.drain_due(START + 9_000)[0].payload, "again");
}

#[test]
fn the_next_drain_returns_overdue_entries_in_order() {
    let mut ring = Ring::new(10);
    ring.drain_due(START);
    ring.insert(START - 90_000, 3, 0, ());
    ring.insert(START + 100, 2, 0, ());
    ring.insert(START - 500, 1, 0, ());
    assert_eq!(ring.next_due(), Some(START - 90_000));
    assert_eq!(ids(&ring.drain_due(START + 100)), [3, 1, 2]);
}

#[test]
fn a_clock_that_goes_back_loses_nothing() {
    let mut ring = Ring::new(10);
    ring.drain_due(START);
    ring.insert(START - 3_000, 1, 0, ());
    ring.insert(START + 200, 2, 0, ());
    assert_eq!(ids(&ring.drain_due(START - 2_000)), [1]);
    ring.insert(START - 1_000, 3, 0, ());
    assert_eq!(ids(&ring.drain_due(START - 1_000)), [3]);
    assert_eq!(ids(&ring.drain_due(START + 200)), [2]);
}

#[test]
fn shards_and_single_runs_can_be_taken_away() {
    let mut ring = Ring::new(10);
    for id in 0..6 {
        ring.insert(START + id * 30_000, id, (id % 2) as i32, ());
    }
    assert_eq!(ring.remove_shard(1), 3);
    assert_eq!(ring.remove(2).map(|entry| entry.due_at), Some(START + 60_000));
    assert_eq!(ring.remove(2), None);
    assert!(ring.get(0).is_some() && ring.get(1).is_none());
    assert_eq!(ids(&ring.drain_due(START + 900_000)), [0, 4]);
}
