//! Nodes that are killed one after the other, each before its second look: what the first one left unanswered is asked about
//! when its time is over all the same. The services are stepped when they wish it, by a clock that stands in between.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use carillon_admin::Admin;
use carillon_admin::config::Config;
use carillon_scheduler::{Clock as _, ManualClock, Millis, RunState, ScheduleDraft};
use carillon_testkit::{RecordingExecutor, Reply, wait_for};
use futures_util::FutureExt as _;

use crate::flow::node::{AnyService, Node, START};
use crate::services::{Kind, on, runtime};

const DUE: Millis = START + 10_000;
/// Its mark, which is ahead of its time.
const MARKED: Millis = DUE - 150;
/// How long a node lives, and the pause in ms until the next one starts.
const LIFE: Duration = Duration::from_millis(4_500);
const PAUSE: Millis = 500;
/// The second node lives from 5,650 to 10,150 ms after the mark: by a fixed period of ten seconds only the third would ask.
const IN_TIME: Millis = 10_200;

/// A life in a runtime of its own: when that is gone all its tasks are, wherever they waited, and the lock on its file.
fn a_life<T: Send + 'static>(config: &Config, from: Millis, life: impl AsyncFnOnce(&Node) -> T + Send + 'static) -> T {
    let config = config.clone();
    let thread = std::thread::spawn(move || {
        let runtime = runtime();
        let done = runtime.block_on(async {
            let node = Box::pin(begun(&config, from)).await;
            Box::pin(life(&node)).await
        });
        runtime.shutdown_background();
        done
    });
    thread.join().unwrap()
}

fn begun(config: &Config, from: Millis) -> Pin<Box<dyn Future<Output = Node> + '_>> {
    Box::pin(async move {
        let clock = Arc::new(ManualClock::new(from));
        wait_for("the file is free", || async {
            let built = Admin::build(config.clone(), clock.clone());
            built.await.is_ok()
        })
        .await;
        Node::on(config.clone(), clock.clone()).await
    })
}

/// Steps a service when its pause is over or something wakes it, as the loop of the program does.
struct Stepped {
    service: Arc<dyn AnyService>,
    next_at: Millis,
}

impl Stepped {
    async fn go_on(&mut self, now: Millis) {
        let woken = self.service.wake().is_some_and(|wake| wake.notified().now_or_never().is_some());
        if woken || now >= self.next_at {
            let pause = self.service.round().await;
            self.next_at = now + i64::try_from(pause.as_millis()).unwrap();
        }
    }
}

/// Lives until its end; answers when each run was asked about, or settled.
async fn lives(node: &Node) -> Vec<(Millis, RunState)> {
    let begun = node.clock.now();
    let services: [Arc<dyn AnyService>; 3] =
        [node.services.resolver.clone(), node.services.coordinator.clone(), node.services.completer.clone()];
    let mut services = services.map(|service| Stepped { service, next_at: begun });
    let jobs = node.store.runs().job_ids(0, 10).await.unwrap();
    let job = node.store.jobs().get(jobs[0]).await.unwrap().unwrap();
    let mut story = vec![];
    while node.clock.now() < begun + i64::try_from(LIFE.as_millis()).unwrap() {
        for service in &mut services {
            service.go_on(node.clock.now()).await;
        }
        // And written: an answer that is only in memory when the life ends would be asked for again ten seconds later.
        wait_for("questions are answered", || async {
            services[2].service.round().await;
            node.engine.is_idle()
        })
        .await;
        let state = node.states(&job).await[0];
        if story.last().is_none_or(|(_, before)| *before != state) {
            story.push((node.clock.now(), state));
        }
        node.clock.advance(Duration::from_millis(100));
    }
    story
}

/// The first node marks a run and dies; then one after the other lives for 4.5 s. Answers what was seen of the run, and
/// when.
fn lives_one_after_the_other(config: Config, executor: (String, Option<&'static str>)) -> Vec<(Millis, RunState)> {
    let mut config = config;
    config.shards = Some(1);
    config.access_token = "0123456789-of-this-test".into();
    let (address, boot_id) = executor;
    a_life(&config, DUE - 2_000, async move |node| {
        let once = |draft: &mut carillon_scheduler::JobDraft| draft.schedule = ScheduleDraft::once(DUE);
        let job = node.job(once).await;
        node.renew_leases().await;
        node.scan().await;
        node.register_address(&address, boot_id).await;
        node.clock.set(MARKED);
        node.dispatch().await;
        assert_eq!(node.states(&job).await, [RunState::Sending]);
    });
    let mut story = vec![];
    let mut from = DUE + 500;
    while from < DUE + 20_000 {
        story.extend(a_life(&config, from, async |node| lives(node).await));
        from += i64::try_from(LIFE.as_millis()).unwrap() + PAUSE;
    }
    story
}

/// When the run left `sending`, after its mark.
fn known_after(story: &[(Millis, RunState)], state: RunState) -> Millis {
    let known = story.iter().find(|(_, seen)| *seen != RunState::Sending);
    let (at, seen) = known.unwrap_or_else(|| panic!("nobody has asked: {story:?}"));
    assert_eq!(*seen, state);
    at - MARKED
}

// covers: H10, 001-39
#[test]
fn a_run_is_asked_about_in_time_though_each_node_is_killed_before_its_second_look() {
    on(Kind::Sqlite, async |db| {
        let executor = RecordingExecutor::start().await;
        let own = (executor.address.clone(), Some("boot-1"));
        let story = lives_one_after_the_other(db.config(), own);
        let waited = known_after(&story, RunState::Running);
        assert!((10_000..=IN_TIME).contains(&waited), "{waited} ms: {story:?}");
        assert_eq!(executor.runs().len(), 1, "its first request never left");
    });
}

// covers: H10, 001-39
#[test]
fn what_nobody_can_know_is_unknown_in_time_too() {
    on(Kind::Sqlite, async |db| {
        let executor = RecordingExecutor::start().await;
        executor.reply_to("/log", Reply::Status(404));
        let stock = (executor.address.clone(), None);
        let story = lives_one_after_the_other(db.config(), stock);
        let waited = known_after(&story, RunState::Unknown);
        assert!((10_000..=IN_TIME).contains(&waited), "{waited} ms: {story:?}");
    });
}
