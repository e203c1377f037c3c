use carillon_scheduler::ManualClock;

use crate::executor::address_gate::*;

const PAUSE: Duration = Duration::from_secs(10);

fn second(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn timed_out() -> Outcome {
    Outcome::Unknown { why: String::new(), timed_out: true }
}

#[test]
fn three_time_outs_in_a_row_close_an_address_and_one_run_probes_it() {
    let address = Arc::new(Address::new(2));
    assert!(!address.note(&timed_out(), second(1), PAUSE));
    assert!(!address.note(&timed_out(), second(1), PAUSE));
    assert!(!address.note(&Outcome::Accepted, second(1), PAUSE), "an answer starts the count anew");
    assert_eq!([1, 2, 3].map(|_| address.note(&timed_out(), second(2), PAUSE)), [false, false, true]);
    assert!(matches!(address.enter(second(11), 10), Err(NoRoom::Broken)));
    let probe = address.enter(second(12), 10).unwrap_or_else(|_| panic!("one probe"));
    assert!(probe.probe);
    assert!(matches!(address.enter(second(12), 10), Err(NoRoom::Broken)), "only one");
    assert!(address.note(&timed_out(), second(15), PAUSE), "a probe that fails closes it at once");
    drop(probe);
    assert!(matches!(address.enter(second(24), 10), Err(NoRoom::Broken)));
    drop(address.enter(second(25), 10));
    let _probe = address.enter(second(25), 10).unwrap_or_else(|_| panic!("a probe that was never sent blocks nobody"));
    assert!(!address.note(&Outcome::Accepted, second(25), PAUSE));
    assert!(address.enter(second(25), 10).is_ok_and(|place| !place.probe));
}

// covers: 002-29, 002-28, 003-27
#[test]
fn what_is_over_the_limit_is_told_saturated() {
    let address = Arc::new(Address::new(1));
    let first = address.enter(second(0), 2);
    let second_place = address.enter(second(0), 2);
    assert!(first.is_ok() && second_place.is_ok());
    assert!(matches!(address.enter(second(0), 2), Err(NoRoom::Saturated)));
    drop(first);
    assert!(address.enter(second(0), 2).is_ok());
}

#[tokio::test]
async fn those_that_wait_leave_when_the_address_closes() {
    let address = Arc::new(Address::new(1));
    let clock = ManualClock::new(0);
    let held = address.slot(false, false, &clock).await;
    let mut waiting = std::pin::pin!(address.slot(false, false, &clock));
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    address.note(&Outcome::NotSent { why: String::new() }, second(1), PAUSE);
    assert_eq!(waiting.await.err(), Some(Left::Closed), "it goes elsewhere");
    drop(held);
}

#[tokio::test]
async fn a_slot_that_is_freed_while_the_address_closes_is_given_to_nobody() {
    let address = Arc::new(Address::new(1));
    let clock = ManualClock::new(0);
    let held = address.slot(false, false, &clock).await;
    let mut waiting = std::pin::pin!(address.slot(false, false, &clock));
    assert!(futures_util::poll!(waiting.as_mut()).is_pending());
    address.note(&Outcome::NotSent { why: String::new() }, second(1), PAUSE);
    drop(held);
    assert_eq!(waiting.await.err(), Some(Left::Closed), "it goes elsewhere");
    assert!(address.slot(true, false, &clock).await.is_ok(), "the probe gets it");
}

#[tokio::test]
async fn who_may_go_elsewhere_does_not_wait_where_nothing_moves() {
    let address = Arc::new(Address::new(1));
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
    assert_eq!(free.await.err(), Some(Left::Stalled));
    drop(held);
    assert!(bound.await.is_ok(), "who has no other address waits");
    assert!(!address.is_stalled(clock.monotonic()), "it moves again");
}
