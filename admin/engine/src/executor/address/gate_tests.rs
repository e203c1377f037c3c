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
    assert!(probe.probe);
    assert!(matches!(address.try_reserve(second(12), 10, FIRST), Err(SlotDenied::Broken)), "only one");
    assert!(address.record_outcome(&unanswered(), second(15), PAUSE), "a probe that fails closes it at once");
    drop(probe);
    assert!(matches!(address.try_reserve(second(24), 10, FIRST), Err(SlotDenied::Broken)));
    drop(address.try_reserve(second(25), 10, FIRST));
    let _probe = address
        .try_reserve(second(25), 10, FIRST)
        .unwrap_or_else(|_| panic!("a probe that was never sent blocks no other"));
    assert!(!address.record_outcome(&Outcome::Accepted, second(25), PAUSE));
    assert!(address.try_reserve(second(25), 10, FIRST).is_ok_and(|place| !place.probe));
}

// covers: G5
#[test]
fn the_first_of_those_that_wait_probes_it() {
    let address = gate(2);
    let (old, young) = ((1_000, 9), (2_000, 8));
    address.record_outcome(&Outcome::NotSent { why: String::new() }, second(1), PAUSE);
    for place in [young, old] {
        assert!(matches!(address.try_reserve(second(10), 10, place), Err(SlotDenied::Broken)));
        address.wait_in_line(place, second(10));
    }
    assert!(
        matches!(address.try_reserve(second(11), 10, young), Err(SlotDenied::Broken)),
        "the other one has waited longer"
    );
    let never_sent = address.try_reserve(second(11), 10, old);
    assert!(never_sent.is_ok_and(|place| place.probe));
    assert!(address.try_reserve(second(11), 10, young).is_err(), "the first is still to be tried");
    address.leave_line(old);
    assert!(address.try_reserve(second(11), 10, young).is_ok(), "it waits no longer");
    address.wait_in_line(old, second(11));
    assert!(address.try_reserve(second(13), 10, young).is_ok(), "it has not come back");
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
    address.record_outcome(&Outcome::NotSent { why: String::new() }, second(1), PAUSE);
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
    address.record_outcome(&Outcome::NotSent { why: String::new() }, second(1), PAUSE);
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
    address.record_outcome(&Outcome::NotSent { why: String::new() }, second(1), PAUSE);
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
