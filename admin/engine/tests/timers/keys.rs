//! Insert, cancel and poll.

use std::collections::BTreeMap;

use carillon_engine::runtime::timers::Timers;
use proptest::prelude::*;
use tokio::time::{Instant, advance};

use crate::virtual_time::{MS, due_now, in_virtual_time, ms, next};

// covers: 002-2
#[test]
fn a_timer_is_inserted_cancelled_and_polled_the_nearest_first() {
    in_virtual_time(async || {
        let (mut timers, start) = (Timers::new(MS), Instant::now());
        for (key, seconds) in [("late", 30), ("early", 10), ("cancelled", 20), ("middle", 25)] {
            timers.set(key, start + ms(seconds * 1_000));
        }
        assert!(timers.cancel(&"cancelled") && !timers.cancel(&"cancelled") && !timers.cancel(&"unknown"));
        assert_eq!((timers.len(), due_now(&mut timers)), (3, vec![]));
        for (key, seconds) in [("early", 10), ("middle", 25), ("late", 30)] {
            assert_eq!((next(&mut timers).await, start.elapsed()), (Some(key), ms(seconds * 1_000)));
        }
        assert!(timers.is_empty() && next(&mut timers).await.is_none());
        timers.set("again", start);
        assert_eq!(next(&mut timers).await, Some("again"), "one whose time has passed is due at once");
    });
}

/// Netty's worker has queues for new and for cancelled timers, and empties them in each tick. Here both take effect when they are
/// called, so what a tick gives out is the same.
// covers: 002-9
#[test]
fn a_tick_knows_all_cancellations_and_new_timers_before_it_gives_out_what_is_due() {
    in_virtual_time(async || {
        let (mut timers, start) = (Timers::new(ms(100)), Instant::now());
        timers.set("due", start + ms(150));
        timers.set("cancelled in this tick", start + ms(160));
        timers.set("next tick", start + ms(250));
        advance(ms(200)).await;
        assert!(timers.cancel(&"cancelled in this tick"));
        timers.set("new in this tick", start + ms(170));
        timers.set("new and cancelled", start + ms(170));
        assert!(timers.cancel(&"new and cancelled"));
        let mut due = due_now(&mut timers);
        due.sort_unstable();
        assert_eq!(due, ["due", "new in this tick"]);
        advance(ms(100)).await;
        assert_eq!(due_now(&mut timers), ["next tick"]);
    });
}

#[derive(Clone, Debug)]
enum Call {
    Set(u8, u64),
    Cancel(u8),
    Pass(u64),
}

/// Delays within each level of the wheel, and beyond the two years after which a timer is inserted again.
fn delay() -> impl Strategy<Value = u64> {
    (0_u32..38).prop_flat_map(|bits| 0..(1_u64 << bits))
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        4 => (0..20_u8, delay()).prop_map(|(key, delay)| Call::Set(key, delay)),
        1 => (0..20_u8).prop_map(Call::Cancel),
        4 => delay().prop_map(Call::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    // covers: 000-9
    #[test]
    fn nothing_is_lost_or_early_with_any_tick_size_and_delay(
        tick in prop_oneof![Just(1), 2..200_u64, 1_000..100_000_u64],
        calls in prop::collection::vec(call(), 0..60),
    ) {
        in_virtual_time(async || {
            let (mut timers, start, mut expected) = (Timers::new(ms(tick)), Instant::now(), BTreeMap::new());
            let tick_of = |at: u64| at.div_ceil(tick) * tick;
            for call in calls.into_iter().chain([Call::Pass(1 << 39)]) {
                let now = start.elapsed().as_millis() as u64;
                match call {
                    Call::Set(key, delay) => {
                        timers.set(key, start + ms(now + delay));
                        expected.insert(key, now + delay);
                    }
                    Call::Cancel(key) => assert_eq!(timers.cancel(&key), expected.remove(&key).is_some()),
                    Call::Pass(time) => {
                        let until = start + ms(now + time);
                        while let Ok(Some(key)) = tokio::time::timeout_at(until, next(&mut timers)).await {
                            let at = expected.remove(&key).unwrap();
                            assert_eq!(start.elapsed(), ms(tick_of(at)), "{key}, of {at}");
                        }
                        tokio::time::sleep_until(until).await;
                        assert!(expected.values().all(|at| tick_of(*at) > now + time), "lost: {expected:?}");
                    }
                }
                assert_eq!(timers.len(), expected.len());
            }
            assert!(timers.is_empty());
        });
    }
}
