//! Another number of shards, at rest and while everybody writes.

use carillon_store::Actor;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use carillon_scheduler::{Cause, RunState};
use carillon_store::backfill::backfills::NewBackfill;
use carillon_store::db::ids;
use carillon_store::run::claim::{HeldLease, JobClaim};
use carillon_store::run::mark::MarkRequest;
use carillon_store::run::open::misplaced::RepairCursor;
use carillon_store::run::trigger::NewTrigger;
use carillon_store::{Error, Store};
use sea_orm::ConnectionTrait as _;

use crate::conformance::fixture::{Fixture, NOW, SHARDS, actor, after, draft, each, repeated};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure};

/// The race lasts this long, and longer on a busy machine until each part has happened often enough.
const SPAN: Duration = Duration::from_secs(4);
const OFTEN: u64 = 4;
const LIMIT: Duration = Duration::from_secs(60);
const TTL: i64 = 10_000;

/// Rows whose shard is not their job's.
async fn astray(fixture: &Fixture, shards: i32) -> [i64; 3] {
    [
        fixture.count("job", &format!("shard <> id % {shards}")).await,
        fixture.count("job_clock", &format!("shard <> job_id % {shards}")).await,
        fixture.count("run", &format!("state < 9 AND shard <> job_id % {shards}")).await,
    ]
}

databases! {
    async fn all_that_is_open_moves_and_every_lease_begins_above_all_epochs(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let store = &fixture.store;
        let mut jobs = vec![];
        for _ in 0..9 {
            jobs.push(fixture.ticking("tick").await);
        }
        let states = [RunState::Claimed, RunState::Sending, RunState::Running, RunState::Lost, RunState::Succeeded];
        for job in &jobs {
            fixture.runs_in(job, &states).await;
        }
        for _ in 0..3 {
            fixture.take(2).await;
        }
        assert_eq!(store.leases().shard_count().await.unwrap(), SHARDS);
        let done = store.leases().set_shards(7, NOW, &actor()).await.unwrap();
        let moved = jobs.iter().filter(|job| job.id % 7 != i64::from(job.shard)).count() as u64;
        assert_eq!((done.before, done.after, done.jobs, done.runs), (SHARDS, 7, moved, 4 * moved));
        assert_eq!(astray(&fixture, 7).await, [0, 0, 0]);
        let leases = store.leases().list().await.unwrap();
        assert_eq!(leases.len(), 7);
        assert!(leases.iter().all(|it| it.epoch == 4 && it.expires_at == 0), "{leases:?}");
        assert!(!store.leases().renew(2, 3, NOW, TTL).await.unwrap(), "the old holder is refused");
        assert_eq!(store.leases().take(2, "b", NOW, TTL).await.unwrap(), Some(5));
        // Down to one, and up again: a shard that comes back never has an epoch that it has had.
        store.leases().set_shards(1, NOW, &actor()).await.unwrap();
        let done = store.leases().set_shards(7, NOW, &actor()).await.unwrap();
        assert_eq!((done.before, done.after), (1, 7));
        assert!(store.leases().list().await.unwrap().iter().all(|it| it.epoch == 7));
        assert_eq!(astray(&fixture, 7).await, [0, 0, 0]);
        assert_eq!(store.leases().set_shards(7, NOW, &actor()).await.unwrap().jobs, 0);
        assert_eq!(store.leases().list().await.unwrap()[0].epoch, 7, "nothing was to be done");
        assert_eq!(fixture.count("audit", "object = 'shards'").await, 3);
    }

    async fn a_count_out_of_range_is_refused(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        for count in [0, -1, 1025] {
            let refused = fixture.store.leases().set_shards(count, NOW, &actor()).await.unwrap_err();
            assert_eq!(refused.to_string(), format!("{count} shards are out of range; write a number from 1 to 1024"));
        }
        assert_eq!(fixture.store.leases().shard_count().await.unwrap(), SHARDS);
    }

    // covers: H28
    async fn the_count_changes_while_everybody_writes(db: &TestDatabase) {
        let race = &Race::new(Fixture::new(db).await);
        futures_util::join!(
            changes(race), creates(race), fires(race), backfills(race), edits(race), holds(race, 0), holds(race, 1), mends(race),
        );
        race.store().leases().set_shards(5, NOW, &actor()).await.unwrap();
        let fixture = &race.fixture;
        assert_eq!(astray(fixture, 5).await, [0, 0, 0]);
        everything_that_waits_is_found(fixture).await;
        each_instant_is_recorded_once(fixture).await;
        let [changes, made, fired, claims, retried] = race.tally.each_ref().map(|it| it.load(Ordering::Relaxed));
        eprintln!("{changes} changes, {made} jobs, {fired} fires, {claims} claims, {retried} failures");
        assert_eq!(fixture.count("run", "cause = 1 AND attempt = 1").await, fired as i64);
        assert_eq!(fixture.count("run", "cause = 4").await, 40);
    }
}

struct Race {
    fixture: Fixture,
    begun: Instant,
    /// Changes, jobs, fires, claims, failures.
    tally: [AtomicU64; 5],
}

impl Race {
    fn new(fixture: Fixture) -> Self {
        Self { fixture, begun: Instant::now(), tally: Default::default() }
    }

    fn store(&self) -> &Store {
        &self.fixture.store
    }

    fn goes_on(&self) -> bool {
        let elapsed = self.begun.elapsed();
        let missing = self.tally.iter().any(|it| it.load(Ordering::Relaxed) < OFTEN);
        assert!(!missing || elapsed < LIMIT, "a part did not happen {OFTEN} times: {:?}", self.tally);
        missing || elapsed < SPAN
    }

    fn count(&self, what: usize) {
        self.tally[what].fetch_add(1, Ordering::Relaxed);
    }
}

async fn changes(race: &Race) {
    for count in [9, 3, 16, 1, 7, 4, 12].into_iter().cycle() {
        if !race.goes_on() {
            return;
        }
        repeated(async || race.store().leases().set_shards(count, NOW, &actor()).await).await;
        race.count(0);
        tokio::time::sleep(Duration::from_millis(60)).await;
    }
}

async fn creates(race: &Race) {
    while race.goes_on() {
        let job = race.fixture.ticking_with("tick", |draft| draft.retries = 3).await;
        assert!(job.id > 0);
        race.count(1);
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

async fn fires(race: &Race) {
    let job = race.fixture.create(&draft("by hand")).await;
    for key in 0.. {
        if !race.goes_on() {
            return;
        }
        let idempotency_key = Some(format!("fire {key}"));
        let fire = NewTrigger {
            parts: None,
            job: job.id.into(),
            cause: Cause::Manual,
            params: None,
            priority: None,
            address: None,
            idempotency_key,
            traceparent: None,
            rerun_of: None,
            is_only_rerun: false,
        };
        repeated(async || race.store().runs().insert_triggered(&fire, NOW, &Actor::engine()).await).await.unwrap();
        race.count(2);
        tokio::task::yield_now().await;
    }
}

async fn backfills(race: &Race) {
    let job = race.fixture.create(&each("* * * * * ?")).await;
    let new = NewBackfill {
        job: job.id.into(),
        from_at: after(-40),
        to_at: after(0),
        max_concurrent: 1,
        instants: (-40..0).map(after).collect(),
    };
    race.store().backfills().create(&new, NOW, &actor()).await.unwrap();
    let mut goes_on = true;
    while goes_on {
        for open in repeated(async || race.store().backfills().open_backfills().await).await {
            repeated(async || race.store().backfills().release(&open, NOW).await).await;
        }
        let text = format!("UPDATE run SET state = 9 WHERE cause = 4 AND job_id = {} AND state < 9", job.id);
        // A deadlock is this test's own.
        let _ = race.fixture.raw.execute_unprepared(&text).await;
        goes_on = !repeated(async || race.store().backfills().open_backfills().await).await.is_empty();
    }
}

async fn edits(race: &Race) {
    let job = race.fixture.create(&each("0 0 0 1 1 ?")).await;
    while race.goes_on() {
        for enabled in [false, true] {
            repeated(async || race.store().jobs().set_enabled(job.id, enabled, NOW, &actor()).await).await;
        }
        let definition = race.fixture.definition(&each("0 0 0 2 1 ?"));
        repeated(async || race.store().jobs().update(job.id, &definition, None, NOW, &actor()).await).await;
    }
}

/// The audit of wrong shards goes on meanwhile, and never takes a row for one that is about to move.
async fn mends(race: &Race) {
    while race.goes_on() {
        match race.store().runs().repair_misplaced(&mut RepairCursor::default(), NOW).await {
            Ok(alarm) => assert_eq!(alarm, None),
            Err(error) if error.is_transient() => {}
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A node that works every second shard: claims, marks, and lets all fail.
async fn holds(race: &Race, number: i32) {
    let node = ["a", "b"][number as usize];
    while race.goes_on() {
        for lease in repeated(async || race.store().leases().list().await).await {
            if lease.shard % 2 == number {
                match work(race, lease.shard, node).await {
                    Ok(()) | Err(Error::Fenced(_)) => {}
                    Err(error) if error.is_transient() => {}
                    Err(error) => panic!("{error}"),
                }
            }
        }
        tokio::task::yield_now().await;
    }
}

async fn work(race: &Race, shard: i32, node: &str) -> Result<(), Error> {
    let store = race.store();
    let Some(epoch) = store.leases().take(shard, node, NOW, TTL).await? else {
        return Ok(());
    };
    let holder = HeldLease { shard, epoch, node, ttl_ms: TTL };
    store.runs().adopt(&holder, None, after(1_000), 1_000).await?;
    let mut claims = vec![];
    for due in store.runs().due_jobs(shard, after(1_000), 10).await? {
        let id = store.take_id(&ids::RUN).await?;
        claims.push(JobClaim {
            counted: false,
            due,
            fires: vec![(id, due.next_fire_at)],
            skipped: vec![],
            next_fire_at: Some(due.next_fire_at + 1_000),
        });
    }
    store.runs().claim(&holder, &claims, NOW).await?;
    race.count(3);
    let waiting = store.runs().waiting(shard, epoch, after(1_000), 10).await?;
    let marks = waiting.iter().map(|run| MarkRequest {
        run_id: run.run_id,
        epoch,
        address: "http://x:1/",
        boot_id: None,
        journal_id: None,
        candidates_id: 1,
        route_code: 0,
        revision: 1,
        app_id: 1,
    });
    let won = store.runs().mark(&marks.collect::<Vec<_>>(), rand::random(), node, NOW).await?;
    let failures: Vec<_> = won.into_iter().map(failure).collect();
    store.runs().settle(&failures, &FOLLOW_UP).await?;
    race.tally[4].fetch_add(failures.len() as u64, Ordering::Relaxed);
    Ok(())
}

/// Each row that waits is in a shard that somebody holds, under an epoch that its holder can adopt.
async fn everything_that_waits_is_found(fixture: &Fixture) {
    let mut found = HashSet::new();
    for lease in fixture.store.leases().list().await.unwrap() {
        let epoch = fixture.store.leases().take(lease.shard, "c", NOW, TTL).await.unwrap().unwrap();
        let holder = HeldLease { shard: lease.shard, epoch, node: "c", ttl_ms: TTL };
        fixture.store.runs().adopt(&holder, None, i64::MAX, 1_000_000).await.unwrap();
        let waiting = fixture.store.runs().waiting(lease.shard, epoch, i64::MAX, 1_000_000).await.unwrap();
        found.extend(waiting.into_iter().map(|run| run.run_id));
    }
    assert_eq!(found.len() as i64, fixture.count("run", "state = 0").await);
}

async fn each_instant_is_recorded_once(fixture: &Fixture) {
    for (job, cursor) in fixture.cursors().await {
        let condition = format!("job_id = {job} AND cause = 0 AND attempt = 1");
        let recorded = fixture.count("run", &condition).await;
        if recorded > 0 {
            assert_eq!(recorded, (cursor - after(1)) / 1_000, "job {job}");
        }
    }
}
