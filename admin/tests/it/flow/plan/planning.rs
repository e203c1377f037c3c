//! Planning that takes long: other tasks have their turn meanwhile, and a job that is slow each time is paused.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_inspect::forecast::Forecast;
use carillon_scheduler::{CatchUp, Clock, JobDraft, ManualClock, Millis, ScheduleDraft};
use carillon_store::VisibleApps;
use carillon_store::alarm::alarms::AlarmFilter;
use futures_util::future::{join_all, join3};

use crate::flow::node::{Node, START, on_node};
use crate::services::{Kind, TestDatabase, on, runtime_builder};

/// Each plan looks at the time once: each look takes `ms` milliseconds, of the clock and of the processor.
struct Slow {
    clock: Arc<ManualClock>,
    ms: AtomicU64,
}

impl Clock for Slow {
    fn now(&self) -> Millis {
        let ms = self.ms.load(Ordering::Relaxed);
        self.clock.advance(Duration::from_millis(ms));
        self.clock.now()
    }

    fn monotonic(&self) -> Duration {
        self.clock.monotonic()
    }

    fn thread_time(&self) -> Duration {
        self.clock.monotonic()
    }
}

async fn node(db: &TestDatabase, shards: i32) -> (Node, Arc<Slow>) {
    let mut config = db.config();
    config.shards = Some(shards);
    config.engine.lease_ttl = Duration::from_secs(3);
    let clock = Arc::new(ManualClock::new(START));
    let seen = Arc::new(Slow { clock: clock.clone(), ms: AtomicU64::new(0) });
    let node = Node::under(config, clock, seen.clone()).await;
    (node, seen)
}

// covers: F14
#[test]
fn planning_a_backlog_of_three_hours_lets_no_lease_lapse() {
    const JOBS: usize = 2_000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = TestDatabase::new(Kind::Sqlite).await;
        let (node, seen) = node(&db, 8).await;
        let every_second = |draft: &mut JobDraft| {
            draft.schedule = ScheduleDraft::fixed_rate(1);
            draft.catch_up = CatchUp::Latest;
            draft.misfire_threshold_seconds = 1;
        };
        node.create_jobs(JOBS, every_second).await;
        node.clock.advance(Duration::from_secs(3 * 3600));
        node.renew_leases().await;
        seen.ms.store(3, Ordering::Relaxed);
        let scans = node.services.scanners.all();
        let scanning = join_all(scans.iter().map(|scan| scan.step()));
        let renewing = async {
            loop {
                node.renew_leases().await;
                tokio::task::yield_now().await;
            }
        };
        // One thread for all of it: what does not give way keeps the renewals out.
        tokio::select! {
            _ = scanning => {}
            () = renewing => {}
        }
        seen.ms.store(0, Ordering::Relaxed);
        let open = node.store.runs().open_runs(8).await.unwrap();
        let recorded: i64 = open.iter().map(|(_, count)| count).sum();
        assert!(recorded >= JOBS as i64, "{recorded}");
        let leases = node.store.leases().list().await.unwrap();
        let epochs: Vec<i64> = leases.iter().map(|lease| lease.epoch).collect();
        assert_eq!(epochs, [1; 8], "none was lost and taken again");
        assert_eq!(node.engine.shards_held().len(), 8);
    });
}

// covers: F14, H21
#[test]
fn a_job_whose_planning_takes_too_long_each_time_is_paused_with_the_reason() {
    on(Kind::Sqlite, async |db| {
        let (node, seen) = node(db, 1).await;
        let job = node.every(1, |_| ()).await;
        node.renew_leases().await;
        seen.ms.store(300, Ordering::Relaxed);
        for _ in 0..2 {
            node.services.scanners.all()[0].step().await;
            // Until its next claim.
            node.clock.advance(Duration::from_secs(3));
            node.renew_leases().await;
        }
        let recorded = node.runs(&job).await.len();
        assert!(recorded > 0, "what a slow plan says is recorded all the same");
        node.services.scanners.all()[0].step().await;
        let job = node.store.jobs().get(job.id).await.unwrap().unwrap();
        let reason = job.paused_reason.unwrap();
        assert!(reason.contains("planning its schedule took more than"), "{reason}");
    });
}

// covers: G8
#[test]
fn a_job_whose_row_does_not_say_how_many_fires_are_left_is_paused_and_the_others_go_on() {
    on_node(async |node| {
        let counted = node.every(1, |draft| draft.schedule.max_fires = Some(9)).await;
        let other = node.every(1, |_| ()).await;
        node.sql(&format!("UPDATE job SET fires_left = NULL WHERE id = {}", counted.id)).await;
        for _ in 0..3 {
            node.round().await;
            node.clock.advance(Duration::from_secs(3));
        }
        assert!(!node.runs(&other).await.is_empty());
        let paused = node.store.jobs().get(counted.id).await.unwrap().unwrap();
        let reason = paused.paused_reason.unwrap();
        assert!(reason.contains("does not say how many fires are left"), "{reason}");
        let filter = AlarmFilter { job_id: Some(counted.id), limit: 9, ..AlarmFilter::default() };
        assert_eq!(node.store.alarms().list(&filter).await.unwrap().items.len(), 1);
    });
}

// covers: V9
#[test]
fn forecasts_are_counted_one_after_the_other_and_waiting_ones_share_an_answer() {
    on_few_threads(async |node| {
        let (now, day, visible) = (node.clock.now(), 86_400_000, VisibleApps::All);
        let ask = |from: Millis| node.engine.forecaster.forecast(from, from + day, &visible);
        let asked = join3(ask(now), ask(now + 1), ask(now + 2));
        let (first, second, third) = all_come_before_one_is_counted(asked).await;
        let from = |answer: carillon_store::Result<Option<Forecast>>| answer.unwrap().unwrap().from;
        // The second had come when the first was under way, the third before the second was begun.
        assert_eq!([from(first), from(second), from(third)], [now, now + 1, now + 1]);
        assert_eq!(from(ask(now + 3).await), now + 3, "an answer is not kept for later");
    });
}

/// Threads that count, of [`on_few_threads`].
const THREADS: usize = 2;

/// Keeps all threads that count until it is dropped.
fn hold_up() -> Vec<mpsc::Sender<()>> {
    let hold = |_| {
        let (release, held) = mpsc::channel::<()>();
        // Ends with an error when the sender is dropped, which is its purpose.
        tokio::task::spawn_blocking(move || held.recv());
        release
    };
    (0..THREADS).map(hold).collect()
}

/// Begins a future. Whether it waits for something.
async fn begin<F: Future>(future: &mut Pin<Box<F>>) -> bool {
    std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
}

/// Asks all, and lets the first be counted after that: a machine that is busy may otherwise count it before the second asks.
async fn all_come_before_one_is_counted<F: Future>(asked: F) -> F::Output {
    let held_up = hold_up();
    let mut asked = Box::pin(asked);
    assert!(begin(&mut asked).await);
    drop(held_up);
    asked.await
}

fn on_few_threads(test: impl AsyncFnOnce(&Node)) {
    let runtime = runtime_builder().max_blocking_threads(THREADS).build().unwrap();
    runtime.block_on(async { test(&Node::start().await).await });
}

// covers: V9
#[test]
fn a_few_different_forecasts_wait_and_saving_a_job_waits_for_none_of_them() {
    on_few_threads(async |node| {
        let (now, hour, visible) = (node.clock.now(), 3_600_000, VisibleApps::All);
        let forecaster = &node.engine.forecaster;
        let ask = |from: Millis, hours: i64| forecaster.forecast(from, from + hours * hour, &visible);
        let asked = join_all((1..=10).map(|hours| ask(now, hours)));
        let answers = all_come_before_one_is_counted(asked).await;
        let counted: Vec<bool> = answers.into_iter().map(|answer| answer.unwrap().is_some()).collect();
        assert_eq!(counted, [[true; 4].as_slice(), &[false; 6]].concat(), "the others are answered at once");

        // Two questions in turn are counted no more often than they must be: the third came when the first was under way.
        let asked = join_all((0..10).map(|number| ask(now + number, 167 + number % 2)));
        let in_turn = all_come_before_one_is_counted(asked).await;
        let begins: Vec<Millis> = in_turn.into_iter().map(|answer| answer.unwrap().unwrap().from - now).collect();
        assert_eq!(begins, [0, 1, 2, 1, 2, 1, 2, 1, 2, 1]);

        let held_up = hold_up();
        let mut waiting = Box::pin(ask(now, 24));
        assert!(begin(&mut waiting).await, "it has its turn, and is not asked again until the job was saved");
        drop(held_up);
        forecaster.loads(None).await.unwrap();
        assert!(waiting.await.unwrap().is_some());
    });
}
