//! A paused app sends nothing that its schedules make due; nothing that was promised is lost.

use std::time::Duration;

use carillon_engine::manage::{PauseRequest, WindowRequest};
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, JobDraft, RunReason, RunState, ScheduleDraft};
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_store::app::pauses::Pause;
use carillon_testkit::Call;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START, with_registered_executor};

async fn pause(node: &Node, change: impl FnOnce(&mut PauseRequest)) -> Pause {
    let mut request = PauseRequest { note: "deployment".to_owned(), ..PauseRequest::default() };
    change(&mut request);
    let pause = node.engine.pauses().create(request, &actor()).await.unwrap();
    node.services.pause_refresher.step().await;
    pause
}

async fn end(node: &Node, pause: &Pause) {
    node.engine.pauses().end(pause.id, &actor()).await.unwrap();
    node.services.pause_refresher.step().await;
}

#[test]
fn fires_of_a_paused_app_are_cancelled_with_the_note() {
    with_registered_executor(async |node, executor| {
        let job = node.every(1, |_| ()).await;
        node.advance(1_000).await;
        let sent = executor.runs().len();
        assert!(sent >= 1);
        let pause = pause(node, |pause| pause.app_id = Some(node.app.id)).await;
        for _ in 0..5 {
            node.advance(1_000).await;
        }
        assert_eq!(executor.runs().len(), sent);
        let runs = node.runs(&job).await;
        let cancelled: Vec<_> = runs.iter().filter(|run| run.state == RunState::Cancelled).collect();
        assert_eq!(cancelled.len(), 5);
        for run in cancelled {
            assert_eq!(run.reason.as_deref(), Some(RunReason::AppPaused.as_str()));
            assert_eq!(run.message(), "paused by ada: deployment");
        }
        end(node, &pause).await;
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), sent + 1, "from the next fire on, and nothing is made up for");
    });
}

#[test]
fn a_pause_of_all_apps_that_is_ahead_begins_and_ends_by_itself() {
    with_registered_executor(async |node, executor| {
        node.every(1, |_| ()).await;
        let (from, until) = (node.clock.now() + 2_500, node.clock.now() + 4_500);
        pause(node, |pause| (pause.from, pause.until) = (Some(from), Some(until))).await;
        let mut sent = vec![];
        for _ in 0..6 {
            let before = executor.runs().len();
            node.advance(1_000).await;
            sent.push(executor.runs().len() - before);
        }
        assert_eq!(sent[1..], [1, 0, 0, 1, 1]);
    });
}

/// A run is marked a little before it leaves.
#[test]
fn the_fire_at_the_begin_of_a_pause_is_left_out_and_the_one_at_its_end_is_sent() {
    with_registered_executor(async |node, executor| {
        node.every(1, |_| ()).await;
        let (from, until) = (START + 3_000, START + 5_000);
        pause(node, |pause| (pause.from, pause.until) = (Some(from), Some(until))).await;
        node.advance(960).await;
        for _ in 0..6 {
            node.advance(1_000).await;
        }
        let due_at = |run: &Call| run.json()["logDateTime"].as_i64().unwrap() - START;
        let sent: Vec<i64> = executor.runs().iter().map(due_at).collect();
        assert_eq!(sent, [1_000, 2_000, 5_000, 6_000, 7_000]);
    });
}

#[test]
fn what_was_promised_waits_and_what_is_asked_for_is_sent() {
    with_registered_executor(async |node, executor| {
        let job = node
            .job(|draft: &mut JobDraft| {
                draft.retries = 1;
                draft.flag_after_seconds = 2;
            })
            .await;
        let first = node.fire(&job).await;
        node.round().await;
        node.callback(&[(first, 500, "no luck")]).await;
        let pause = pause(node, |_| ()).await;
        for _ in 0..12 {
            node.advance(1_000).await;
            node.services.overdue_flagger.step().await;
        }
        assert_eq!(executor.runs().len(), 1, "the second attempt waits");
        assert_eq!(node.states(&job).await, [RunState::Failed, RunState::Claimed]);
        let alarms =
            node.store.alarms().list(&AlarmFilter { limit: 10, ..AlarmFilter::default() }).await.unwrap().items;
        assert!(alarms.is_empty(), "that it waits is no alarm: {alarms:?}");
        let by_hand = node.fire(&job).await;
        node.round().await;
        assert_eq!(executor.runs()[1].run_id(), by_hand);
        end(node, &pause).await;
        node.advance(1_500).await;
        assert_eq!(executor.runs().len(), 3, "it is sent after the pause");
    });
}

#[test]
fn a_fixed_delay_goes_on_after_a_pause() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|draft: &mut JobDraft| draft.schedule = ScheduleDraft::fixed_delay(1)).await;
        let pause = pause(node, |_| ()).await;
        for _ in 0..4 {
            node.advance(1_000).await;
        }
        assert!(executor.runs().is_empty());
        assert!(node.states(&job).await.iter().filter(|state| **state == RunState::Cancelled).count() >= 2);
        end(node, &pause).await;
        node.clock.advance(Duration::from_secs(1));
        node.round().await;
        node.round().await;
        assert_eq!(executor.runs().len(), 1);
    });
}

#[test]
fn a_maintenance_window_pauses_its_app_again_and_again() {
    with_registered_executor(async |node, executor| {
        let job = node.every(20, |_| ()).await;
        // The first minute of each five, from 08:55 UTC on.
        let request = WindowRequest {
            app_id: Some(node.app.id),
            note: "patches".to_owned(),
            expression: "0 0/5 * * * ?".to_owned(),
            timezone: "UTC".to_owned(),
            minutes: 1,
        };
        let made = node.engine.maintenance_windows().create(request, &actor()).await.unwrap();
        node.services.pause_refresher.step().await;
        let mut sent = vec![];
        while node.clock.now() < made.times[0].1 + 20_000 {
            let before = executor.runs().len();
            node.register(executor).await;
            for _ in 0..4 {
                node.advance(5_000).await;
            }
            sent.push(executor.runs().len() - before);
        }
        assert_eq!(sent, [1, 1, 1, 1, 0, 0, 0, 1, 1]);
        let runs = node.runs(&job).await;
        let cancelled: Vec<_> = runs.iter().filter(|run| run.state == RunState::Cancelled).collect();
        assert_eq!(cancelled.len(), 3);
        assert_eq!(cancelled[0].message(), "paused by ada: patches");
        // Later times are known without the database.
        let mut paused = vec![];
        for at in [made.times[1].0 - 1, made.times[1].0, made.times[1].1 - 1, made.times[1].1] {
            node.clock.set(at);
            paused.push(node.engine.pauses().in_force(&actor()).len());
        }
        assert_eq!(paused, [0, 1, 1, 0]);
    });
}

#[test]
fn a_maintenance_window_in_force_is_ended_by_hand() {
    with_registered_executor(async |node, _| {
        let request = WindowRequest {
            app_id: None,
            note: "patches".to_owned(),
            expression: "0 0/5 * * * ?".to_owned(),
            timezone: "UTC".to_owned(),
            minutes: 2,
        };
        let windows = node.engine.maintenance_windows();
        let made = windows.create(request, &actor()).await.unwrap();
        let id = made.window.id;
        assert!(windows.end(id, &actor()).await.is_err(), "it has not begun");
        let in_force = async |at| {
            node.clock.set(at);
            node.services.pause_refresher.step().await;
            node.engine.pauses().in_force(&actor()).len()
        };
        assert_eq!(in_force(made.times[0].0 + 1_000).await, 1);
        windows.end(id, &actor()).await.unwrap();
        assert_eq!(in_force(made.times[0].0 + 2_000).await, 0);
        assert_eq!(in_force(made.times[1].0).await, 1, "the next one begins at its time");
        windows.delete(id, &actor()).await.unwrap();
        assert_eq!(in_force(made.times[1].0 + 1_000).await, 0);
    });
}

#[test]
fn a_node_knows_the_pauses_before_it_sends() {
    with_registered_executor(async |node, _| {
        pause(node, |_| ()).await;
        let now = node.clock.now();
        let other = Node::restarted(node, node.config.clone(), now).await;
        assert_eq!(other.engine.pauses().in_force(&actor()).len(), 1);
    });
}
