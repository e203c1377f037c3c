//! A key has one timer, and a renewal of it inserts none.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use carillon_engine::runtime::timers::Timers;
use parking_lot::Mutex;
use tokio::runtime::Builder;
use tokio::task::yield_now;
use tokio::time::{Instant, advance};

use crate::virtual_time::{MS, due_now, in_virtual_time, ms, next};

const KEYS: u64 = 1_000;
const LEASE_MS: u64 = 30_000;

// covers: 002-31, 002-32
#[test]
fn a_million_renewals_of_a_thousand_keys_make_a_thousand_timers_and_insert_none() {
    in_virtual_time(async || {
        let mut timers = Timers::new(MS);
        // 100,000 renewals in each 100 ms, and less than a lease in all.
        for _ in 0..10 {
            for renewal in 0..100_000 {
                timers.set(renewal % KEYS, Instant::now() + ms(LEASE_MS));
            }
            assert!(due_now(&mut timers).is_empty());
            advance(ms(100)).await;
        }
        assert_eq!((timers.len(), timers.insertions()), (1_000, 1_000));
    });
}

/// What was renewed is inserted again when its first time is over: once in a lease, with any number of renewals.
// covers: 002-30, 002-32
#[test]
fn a_renewal_notes_the_time_and_one_check_is_pending_for_each_key() {
    in_virtual_time(async || {
        let (mut timers, start) = (Timers::new(MS), Instant::now());
        let leases = 20;
        while start.elapsed() < ms(leases * LEASE_MS) {
            for key in 0..10 {
                timers.set(key, Instant::now() + ms(LEASE_MS));
            }
            assert_eq!((due_now(&mut timers), timers.len()), (vec![], 10));
            advance(ms(100)).await;
        }
        assert!(timers.insertions() <= 10 * (leases + 1), "{} insertions", timers.insertions());
        let last_renewal = start.elapsed() - ms(100);
        for _ in 0..10 {
            assert!(next(&mut timers).await.is_some());
            assert_eq!(start.elapsed(), last_renewal + ms(LEASE_MS), "each is over one lease after its last renewal");
        }
        assert!(next(&mut timers).await.is_none());
    });
}

#[test]
fn a_renewal_may_bring_the_end_nearer() {
    in_virtual_time(async || {
        let (mut timers, start) = (Timers::new(MS), Instant::now());
        for seconds in [500, 600, 40, 50] {
            timers.set("key", start + ms(seconds * 1_000));
        }
        assert_eq!((next(&mut timers).await, start.elapsed()), (Some("key"), ms(50_000)));
        assert_eq!(next(&mut timers).await, None);
    });
}

/// The renewal comes just before the expiry, at the same time or just after it, and before the poll or after it.
// covers: 002-33
#[test]
fn a_renewal_at_the_expiry_keeps_the_lease_or_begins_another() {
    in_virtual_time(async || {
        for round in 0..10_000 {
            let (mut timers, start) = (Timers::new(MS), Instant::now());
            let (renewed_after, is_polled_first) = (8 + round % 5, round % 2 == 0);
            timers.set("key", start + ms(10));
            advance(ms(renewed_after)).await;
            let expired = if is_polled_first { due_now(&mut timers) } else { vec![] };
            let is_over = is_polled_first && renewed_after >= 10;
            assert_eq!(expired, if is_over { vec!["key"] } else { vec![] }, "after {renewed_after} ms");
            timers.set("key", Instant::now() + ms(10));
            assert_eq!((due_now(&mut timers), timers.len()), (vec![], 1), "it is live");
            assert_eq!((next(&mut timers).await, start.elapsed()), (Some("key"), ms(renewed_after + 10)));
        }
    });
}

/// Leases with their ends, and their timers.
struct Leases {
    timers: Timers<u64>,
    until: BTreeMap<u64, Instant>,
}

impl Leases {
    fn renew(&mut self, key: u64) -> Instant {
        let until = Instant::now() + MS;
        self.until.insert(key, until);
        self.timers.set(key, until);
        until
    }
}

/// Two threads race here in real time, of which nothing is asserted but the order.
// covers: 002-33
#[test]
fn no_live_lease_is_taken_while_one_thread_renews_ten_thousand_and_another_takes_what_is_over() {
    const TOGETHER: u64 = 100;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async {
        let leases = Arc::new(Mutex::new(Leases { timers: Timers::new(MS), until: BTreeMap::new() }));
        // It keeps the other thread waiting for timers.
        leases.lock().timers.set(u64::MAX, Instant::now() + ms(3_600_000));
        let (expiring, mut left) = (leases.clone(), 10_000);
        let expire = tokio::spawn(poll_fn(move |cx| {
            let mut leases = expiring.lock();
            let Poll::Ready(Some(key)) = leases.timers.poll_due(cx) else { return Poll::Pending };
            let until = leases.until.remove(&key).expect("a lease is taken once");
            assert!(Instant::now() >= until, "lease {key} was live");
            left -= 1;
            // One at a time, so that the other thread has the lock between them.
            cx.waker().wake_by_ref();
            if left == 0 { Poll::Ready(()) } else { Poll::Pending }
        }));
        let renewing = leases.clone();
        let renew = tokio::spawn(async move {
            let mut renewed = 0;
            for first in (0..10_000).step_by(TOGETHER as usize) {
                let keys = first..first + TOGETHER;
                let until = keys.clone().map(|key| renewing.lock().renew(key)).max().unwrap();
                // From the end of the leases until they have been taken out.
                let renew_at = until + Duration::from_micros(first / TOGETHER % 20 * 100);
                while Instant::now() < renew_at {
                    yield_now().await;
                }
                for key in keys {
                    let leases = &mut *renewing.lock();
                    if leases.until.contains_key(&key) {
                        leases.renew(key);
                        renewed += 1;
                    }
                }
            }
            renewed
        });
        println!("{} of 10000 leases were renewed before they were taken", renew.await.unwrap());
        expire.await.unwrap();
        let leases = leases.lock();
        assert_eq!((leases.until.len(), leases.timers.len()), (0, 1));
    });
}
