use carillon_scheduler::ManualClock;

use crate::executor::address::gate::*;

const PAUSE: Duration = Duration::from_secs(10);
const FIRST: Place = (0, 1);

fn gate(in_flight: usize) -> Arc<AddressGate> {
    Arc::new(AddressGate::new(in_flight, "orders", Arc::default()))
}

fn second(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// No answer in time, the connection closed, a status or a body that is not of the protocol.
fn unanswered() -> Outcome {
    Outcome::Unknown { why: String::new() }
}

fn not_sent() -> Outcome {
    Outcome::NotSent { why: String::new() }
}

// covers: G5
#[test]
fn three_requests_without_an_answer_in_a_row_close_an_address_and_one_run_probes_it() {
    let address = gate(2);
    assert!(!address.record_outcome(&unanswered(), second(1), PAUSE));
    assert!(!address.record_outcome(&unanswered(), second(1), PAUSE));
    assert!(!address.record_outcome(&Outcome::Accepted, second(1), PAUSE), "an answer starts the count anew");
    assert_eq!([1, 2, 3].map(|_| address.record_outcome(&unanswered(), second(2), PAUSE)), [false, false, true]);
    assert!(matches!(address.try_reserve(second(11), 10, FIRST), Err(SlotDenied::Broken)));
    let probe = address.try_reserve(second(12), 10, FIRST).unwrap_or_else(|_| panic!("one probe"));
    assert!(probe.is_probe());
    assert!(matches!(address.try_reserve(second(12), 10, FIRST), Err(SlotDenied::Broken)), "only one");
    assert!(address.record_outcome(&unanswered(), second(15), PAUSE), "a probe that fails closes it at once");
    drop(probe);
    assert!(matches!(address.try_reserve(second(24), 10, FIRST), Err(SlotDenied::Broken)));
    drop(address.try_reserve(second(25), 10, FIRST));
    let _probe = address
        .try_reserve(second(25), 10, FIRST)
        .unwrap_or_else(|_| panic!("a probe that was never sent blocks no other"));
    assert!(!address.record_outcome(&Outcome::Accepted, second(25), PAUSE));
    assert!(address.try_reserve(second(25), 10, FIRST).is_ok_and(|place| !place.is_probe()));
}

// covers: G5
#[test]
fn the_first_of_those_that_wait_probes_it() {
    let address = gate(2);
    let (old, young) = ((1_000, 9), (2_000, 8));
    address.record_outcome(&not_sent(), second(1), PAUSE);
    let denied = |at: u64, place| address.try_reserve(second(at), 10, place).err();
    for place in [young, old] {
        assert_eq!(denied(10, place), Some(SlotDenied::Broken));
        address.wait_in_line(place, second(10));
    }
    assert_eq!(denied(11, young), Some(SlotDenied::Behind));
    let probe = address.try_reserve(second(11), 10, old);
    assert!(probe.is_ok_and(|place| place.is_probe()));
    assert_eq!(denied(11, young), None, "the first one has said nothing of the address");
    address.record_outcome(&not_sent(), second(11), PAUSE);
    for place in [young, old] {
        address.wait_in_line(place, second(21));
    }
    assert_eq!(denied(21, young), Some(SlotDenied::Behind));
    address.leave_line(old);
    assert_eq!(denied(21, young), None, "it waits no longer");
    address.record_outcome(&not_sent(), second(21), PAUSE);
    address.wait_in_line(old, second(30));
    assert_eq!(denied(31, young), Some(SlotDenied::Behind));
    assert_eq!(denied(32, young), None, "it has not come back");
}

/// As those of a job whose secret was deleted, or whose tokens are not to be had.
// covers: G5
#[test]
fn runs_that_say_nothing_of_an_address_hold_up_no_other() {
    let address = gate(2);
    address.record_outcome(&not_sent(), second(1), PAUSE);
    let (first, second_one, good) = ((1_000, 1), (2_000, 2), (3_000, 3));
    for place in [first, second_one, good] {
        address.wait_in_line(place, second(11));
    }
    let withheld = address.try_reserve(second(11), 10, first).unwrap_or_else(|_| panic!("it is the first"));
    address.record_outcome(&Outcome::Withheld { why: String::new() }, second(11), PAUSE);
    drop(withheld);
    assert!(address.try_reserve(second(11), 10, good).is_ok_and(|place| place.is_probe()));
}

// covers: G5
#[test]
fn a_probe_that_takes_longer_than_the_pause_leaves_the_next_one_its_turn() {
    let address = gate(2);
    address.record_outcome(&not_sent(), second(1), PAUSE);
    let slow = address.try_reserve(second(11), 10, (1_000, 1)).unwrap_or_else(|_| panic!("the first probe"));
    assert_eq!(address.try_reserve(second(20), 10, (2_000, 2)).err(), Some(SlotDenied::Broken));
    let next = address.try_reserve(second(21), 10, (2_000, 2)).unwrap_or_else(|_| panic!("the second probe"));
    drop(slow);
    assert_eq!(address.try_reserve(second(22), 10, (3_000, 3)).err(), Some(SlotDenied::Broken), "one at a time");
    address.record_outcome(&Outcome::Accepted, second(22), PAUSE);
    drop(next);
    assert!(address.try_reserve(second(22), 10, (3_000, 3)).is_ok_and(|place| !place.is_probe()));
}

// covers: 002-29
#[test]
fn what_is_over_the_limit_is_saturated() {
    let address = gate(1);
    let first = address.try_reserve(second(0), 2, FIRST);
    let second_place = address.try_reserve(second(0), 2, FIRST);
    assert!(first.is_ok() && second_place.is_ok());
    assert!(matches!(address.try_reserve(second(0), 2, FIRST), Err(SlotDenied::Saturated)));
    drop(first);
    assert!(address.try_reserve(second(0), 2, FIRST).is_ok());
}

#[tokio::test]
async fn its_app_is_announced_by_an_answer_when_half_of_the_places_are_free_and_a_run_wants_one() {
    let wake = Arc::new(Notify::new());
    let freed = Arc::new(FreedApps::new(wake.clone()));
    let address = Arc::new(AddressGate::new(1, "orders", freed.clone()));
    let reserve = || address.try_reserve(second(0), 4, FIRST).ok();
    let answer = || address.record_outcome(&Outcome::Accepted, second(0), PAUSE);
    let mut places: Vec<_> = (0..4).filter_map(|_| reserve()).collect();
    places.truncate(2);
    answer();
    assert!(freed.take().is_empty(), "no run was turned away");
    places.extend((0..2).filter_map(|_| reserve()));
    assert!(places.len() == 4 && reserve().is_none());
    places.pop();
    answer();
    assert!(freed.take().is_empty(), "one place of four is free");
    places.pop();
    assert!(freed.take().is_empty(), "the run left without an answer");
    answer();
    wake.notified().await;
    assert!(freed.take().contains("orders"));
    places.clear();
    answer();
    assert!(freed.take().is_empty(), "once for each time");
}

#[test]
fn its_app_is_announced_when_it_answers_again() {
    let freed = Arc::new(FreedApps::default());
    let address = Arc::new(AddressGate::new(1, "orders", freed.clone()));
    address.record_outcome(&not_sent(), second(1), PAUSE);
    assert!(matches!(address.try_reserve(second(2), 10, FIRST), Err(SlotDenied::Broken)));
    let probe = address.try_reserve(second(12), 10, FIRST);
    assert!(freed.take().is_empty(), "it was not asked yet");
    address.record_outcome(&Outcome::Accepted, second(12), PAUSE);
    assert!(freed.take().contains("orders"));
    drop(probe);
}

#[tokio::test]
async fn those_that_wait_leave_when_the_address_closes() {
    let address = gate(1);
    let clock = ManualClock::new(0);
    let held = address.slot(false, false, &clock).await;
    let mut waiting = std::pin::pin!(address.slot(false, false, &clock));
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    address.record_outcome(&not_sent(), second(1), PAUSE);
    assert_eq!(waiting.await.err(), Some(WaitAborted::Closed), "it goes elsewhere");
    drop(held);
}

#[tokio::test]
async fn a_slot_that_is_freed_while_the_address_closes_is_given_to_no_run() {
    let address = gate(1);
    let clock = ManualClock::new(0);
    let held = address.slot(false, false, &clock).await;
    let mut waiting = std::pin::pin!(address.slot(false, false, &clock));
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    address.record_outcome(&not_sent(), second(1), PAUSE);
    drop(held);
    assert_eq!(waiting.await.err(), Some(WaitAborted::Closed), "it goes elsewhere");
    assert!(address.slot(true, false, &clock).await.is_ok(), "the probe gets it");
}

#[tokio::test]
async fn a_run_that_may_go_elsewhere_does_not_wait_where_nothing_moves() {
    let address = gate(1);
    let clock = ManualClock::new(0);
    clock.advance(second(1));
    let held = address.slot(false, true, &clock).await;
    let mut free = std::pin::pin!(address.slot(false, true, &clock));
    let mut bound = std::pin::pin!(address.slot(false, false, &clock));
    assert!(futures_util::poll!(free.as_mut()).is_pending());
    assert!(futures_util::poll!(bound.as_mut()).is_pending());
    assert!(!address.is_stalled(clock.monotonic()));
    clock.advance(STALLED_AFTER);
    assert!(address.is_stalled(clock.monotonic()));
    assert_eq!(free.await.err(), Some(WaitAborted::Stalled));
    drop(held);
    assert!(bound.await.is_ok(), "a run without another address waits");
    assert!(!address.is_stalled(clock.monotonic()), "it moves again");
}
