//! Jobs whose runs are to start within a time.

use std::time::Duration;

use carillon_engine::manage::PauseRequest;
use carillon_engine::runtime::Service as _;
use carillon_inspect::explain::explain;
use carillon_locale::Language;
use carillon_scheduler::{AlarmKind, Clock as _, JobDraft, Overlap, RunState};
use carillon_store::alarm::alarms::{AlarmFilter, AlarmRow};
use carillon_store::alarm::late_starts::LateStart;
use carillon_store::{Job, VisibleApps};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, on_node, with_registered_executor};

fn prompt(draft: &mut JobDraft) {
    draft.start_within_seconds = 10;
    draft.overlap = Overlap::Wait;
}

/// The alarms of late starts, oldest first, after a look.
async fn look(node: &Node) -> Vec<AlarmRow> {
    node.services.start_watcher.step().await;
    let filter = AlarmFilter { kinds: vec![AlarmKind::LateStart], limit: 100, ..AlarmFilter::default() };
    node.store.alarms().list(&filter).await.unwrap().items.into_iter().rev().collect()
}

async fn seconds(node: &Node, count: usize) {
    for _ in 0..count {
        node.advance(1_000).await;
    }
}

async fn story(node: &Node, job: &Job, run_id: i64) -> String {
    let at = node.store.runs().get(run_id).await.unwrap().unwrap().scheduled_at;
    let found = explain(&node.store, job.id, at, node.clock.now(), &VisibleApps::All).await.unwrap().unwrap();
    found.sentences(Language::English).join("\n")
}

#[test]
fn a_run_that_waits_for_too_long_has_an_alarm_while_it_waits_and_a_later_one_in_time_ends_it() {
    with_registered_executor(async |node, _| {
        let job = node.job(prompt).await;
        let first = node.fire(&job).await;
        node.round().await;
        node.advance(1_000).await;
        let second = node.fire(&job).await;
        seconds(node, 10).await;
        assert_eq!(look(node).await, [], "the first has started, and the second has its time");
        node.advance(1_000).await;
        let alarms = look(node).await;
        assert_eq!(alarms.len(), 1);
        assert_eq!((alarms[0].alarm.job_id, alarms[0].alarm.run_id), (Some(job.id), Some(second)));
        let text = format!("run {second} was due 11 s ago and has not started; the objective is 10 s");
        assert_eq!((&alarms[0].alarm.text, alarms[0].is_open), (&text, true));
        let told = "It misses the objective of its job: it was due 11 s ago, and should have started within 10 s.";
        assert!(story(node, &job, second).await.contains(told));
        node.advance(1_000).await;
        assert_eq!(look(node).await.len(), 1, "once");
        node.callback(&[(first, 200, "")]).await;
        node.round().await;
        node.advance(600).await;
        let alarms = look(node).await;
        assert_eq!((alarms.len(), alarms[0].is_open), (1, true), "it has started, and too late");
        assert!(
            story(node, &job, second)
                .await
                .contains("It missed the objective of its job: it started 12 s after it was due")
        );
        node.callback(&[(second, 200, "")]).await;
        node.round().await;
        let third = node.fire(&job).await;
        node.round().await;
        node.advance(600).await;
        let alarms = look(node).await;
        assert_eq!((alarms.len(), alarms[0].is_open), (1, false), "run {third} has met it");
        assert!(node.metrics().contains(r#"carillon_alarms_total{kind="late_start"} 1"#));
    });
}

#[test]
fn a_run_that_starts_late_between_two_looks_has_an_alarm_too() {
    with_registered_executor(async |node, _| {
        let (job, other) = (node.job(prompt).await, node.job(|_| ()).await);
        node.renew_leases().await;
        let late = node.fire(&job).await;
        node.fire(&other).await;
        for _ in 0..11 {
            node.clock.advance(Duration::from_secs(1));
            node.renew_leases().await;
        }
        node.advance(300).await;
        node.advance(300).await;
        let alarms = look(node).await;
        assert_eq!(alarms.len(), 1, "only the one with an objective");
        assert_eq!(alarms[0].alarm.text, format!("run {late} started 11 s after it was due; the objective is 10 s"));
        assert!(alarms[0].is_open);
    });
}

#[test]
fn a_run_of_which_no_request_has_left_has_not_started() {
    on_node(async |node| {
        let job = node.job(prompt).await;
        let late = LateStart { run_id: 1, job_id: job.id, due_at: node.clock.now(), start_within_seconds: 10 };
        node.store.alarms().raise_late_starts(&[(late, None)], node.clock.now()).await.unwrap();
        // Nothing listens there.
        node.register_address("http://127.0.0.1:1/", None).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [RunState::Failed]);
        let alarms = look(node).await;
        assert_eq!((alarms.len(), alarms[0].is_open), (1, true));
    });
}

#[test]
fn while_its_app_is_paused_a_run_waits_because_a_person_has_said_so() {
    with_registered_executor(async |node, _| {
        let job = node
            .job(|draft| {
                prompt(draft);
                draft.retries = 1;
                draft.retry_delay = "fixed 1".parse().unwrap();
            })
            .await;
        let first = node.fire(&job).await;
        node.round().await;
        node.callback(&[(first, 500, "no luck")]).await;
        let request = PauseRequest { note: "deployment".to_owned(), ..PauseRequest::default() };
        node.engine.pauses().create(request, &actor()).await.unwrap();
        node.services.pause_refresher.step().await;
        seconds(node, 20).await;
        assert_eq!(look(node).await, [], "the second attempt waits");
    });
}
