//! Everybody at once: four claimers that no lease keeps apart, two markers that also settle, two editors. Afterwards each
//! instant below each cursor has one record, nothing was sent that an edit had taken away, and no deadlock has surfaced.

mod actors;
mod verdict;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use carillon_scheduler::{CatchUp, Millis, MisfirePolicy};
use carillon_store::{Error, Job};
use futures_util::future::join_all;

use self::actors::{claimer, marker, renamer, toggler};
use crate::conformance::fixture::{Fixture, NOW, SHARDS};

/// How long they fight over each database.
const SPAN: Duration = Duration::from_secs(15);
/// Seconds of the schedules that pass in one second of the test.
const SPEED: u32 = 15;
/// Time of the schedules that has passed when the test starts, ms: the first instants are too late, on each machine.
const LATE: Millis = 20_000;
const JOBS: usize = 32;

/// What they share.
struct Arena {
    fixture: Fixture,
    epochs: Vec<i64>,
    jobs: Vec<Job>,
    begun: Instant,
    tally: Tally,
    /// From when to when a job was disabled, as its editor told the store.
    disabled: Mutex<HashMap<i64, Vec<(Millis, Millis)>>>,
    /// Runs that were won, with their token, and not given back.
    won: Mutex<Vec<(i64, i64)>>,
    /// What must not happen.
    complaints: Mutex<Vec<String>>,
}

#[derive(Debug, Default)]
struct Tally {
    claims: AtomicU64,
    changed: AtomicU64,
    marks: AtomicU64,
    settled: AtomicU64,
    edits: AtomicU64,
    conflicts: AtomicU64,
}

impl Arena {
    async fn new(fixture: Fixture) -> Self {
        let mut epochs = vec![];
        for shard in 0..SHARDS {
            epochs.push(fixture.take(shard).await);
        }
        let mut jobs = vec![];
        for number in 0..JOBS {
            let name = format!("job {number}");
            let job = fixture.ticking_with(&name, |draft| {
                draft.retries = (number % 3) as i32;
                if number % 4 == 1 {
                    draft.catch_up = CatchUp::Latest;
                }
                if number % 4 == 2 {
                    draft.misfire = MisfirePolicy::Skip;
                    draft.misfire_threshold_seconds = 1;
                }
            });
            jobs.push(job.await);
        }
        Self {
            fixture,
            epochs,
            jobs,
            begun: Instant::now(),
            tally: Tally::default(),
            disabled: Mutex::default(),
            won: Mutex::default(),
            complaints: Mutex::default(),
        }
    }

    fn now(&self) -> Millis {
        NOW + LATE + (self.begun.elapsed() * SPEED).as_millis() as i64
    }

    fn goes_on(&self) -> bool {
        self.begun.elapsed() < SPAN
    }

    fn complain(&self, complaint: String) {
        self.complaints.lock().unwrap().push(complaint);
    }

    /// A deadlock is repeated as the engine repeats it; any other error, or too many of them, is a complaint.
    async fn repeated<T>(&self, what: &str, attempt: impl AsyncFn() -> Result<T, Error>) -> Option<T> {
        for _ in 0..4 {
            match attempt().await {
                Ok(value) => return Some(value),
                Err(error) if error.is_lock_conflict() => count(&self.tally.conflicts, 1),
                Err(error) => {
                    self.complain(format!("{what}: {error}"));
                    return None;
                }
            }
        }
        self.complain(format!("{what}: deadlock after deadlock"));
        None
    }
}

fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, Ordering::Relaxed);
}

databases! {
    // covers: 001-20, 001-28, I1, I2
    async fn under_contention_each_instant_has_one_record(db: &TestDatabase) {
        let arena = &Arena::new(Fixture::new(db).await).await;
        let claimers = join_all((0..4).map(|_| claimer(arena)));
        let markers = join_all((0..2).map(|number| marker(arena, number)));
        // Each waits on a connection of its own: it is the database that they fight in.
        futures_util::join!(claimers, markers, renamer(arena), toggler(arena));
        let verdict = verdict::of(arena).await;
        eprintln!("{:?} {verdict:?}", arena.tally);
        assert_eq!(*arena.complaints.lock().unwrap(), Vec::<String>::new());
        assert!(verdict.recorded > 500 && verdict.in_ranges > 0, "{verdict:?}");
        let tally = &arena.tally;
        for counter in [&tally.claims, &tally.changed, &tally.marks, &tally.settled, &tally.edits] {
            assert!(counter.load(Ordering::Relaxed) > 0, "{tally:?}");
        }
    }
}
