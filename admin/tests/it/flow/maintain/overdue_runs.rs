//! Conditions that an operator should look at: overdue runs, and alarms that stay unresolved.

use carillon_scheduler::AuditObjectKind;
use carillon_store::audit::list::AuditFilter;
use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{AlarmKind, Clock as _, JobDraft, Outcome, RunState};
use carillon_store::alarm::alarms::{AlarmFilter, AlarmRow};
use carillon_testkit::{RecordingExecutor, Reply};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, on_node};
use crate::services::{Kind, on};

async fn alarms(node: &Node) -> Vec<AlarmRow> {
    let filter = AlarmFilter { limit: 100, ..AlarmFilter::default() };
    node.store.alarms().list(&filter).await.unwrap().items
}

/// Everything goes on but the sending: a run stays as its claim left it.
async fn second_without_a_tick(node: &Node) {
    second_without_a_look(node).await;
    node.services.overdue_flagger.step().await;
}

async fn second_without_a_look(node: &Node) {
    node.clock.advance(Duration::from_secs(1));
    node.renew_leases().await;
    node.scan().await;
}

// covers: 001-38
#[test]
fn a_run_that_still_waits_30_s_after_it_was_due_is_flagged_then() {
    on_node(async |node| {
        let quick = |draft: &mut JobDraft| draft.flag_after_seconds = 7;
        let (job, impatient) = (node.job(|_| ()).await, node.job(quick).await);
        node.renew_leases().await;
        for job in [&job, &job, &impatient] {
            node.fire(job).await;
        }
        let due_at = node.runs(&job).await[0].due_at;
        for _ in 0..40 {
            second_without_a_tick(node).await;
        }
        let after = async |job| -> Vec<_> {
            let runs = node.runs(job).await;
            let late = runs.iter().map(|run| run.flagged_at.unwrap() - due_at);
            late.collect()
        };
        assert_eq!(after(&job).await, [30_000; 2], "30 s, to the second");
        assert_eq!(after(&impatient).await, [7_000], "as the job says");
        let told: Vec<_> = alarms(node).await.into_iter().rev().collect();
        let texts: Vec<&str> = told.iter().map(|row| row.alarm.text.as_str()).collect();
        let (first, of) = (node.runs(&job).await[0].id, node.runs(&impatient).await[0].id);
        let expected = [
            format!("run {of} was due 7 s ago and has not been sent"),
            format!("run {first} was due 30 s ago and has not been sent, and 1 more of its job"),
        ];
        assert_eq!(texts, expected, "once a job");
        assert!(told.iter().all(|row| row.alarm.kind == AlarmKind::Stuck && row.is_open));
        assert!(node.metrics().contains("carillon_runs_flagged_total 3"));
    });
}

// covers: 001-38
#[test]
fn the_server_says_when_a_job_says_nothing_and_what_was_sent_is_never_flagged() {
    on(Kind::Sqlite, async |database| {
        let mut config = database.config();
        (config.shards, config.engine.flag_after) = (Some(2), Duration::from_secs(12));
        let clock = carillon_scheduler::ManualClock::new(crate::flow::node::START);
        let node = Node::on(config, std::sync::Arc::new(clock)).await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let (sent, waits) = (node.job(|_| ()).await, node.job(|_| ()).await);
        node.round().await;
        node.fire(&sent).await;
        node.round().await;
        assert_eq!(node.states(&sent).await, [RunState::Running]);
        node.fire(&waits).await;
        for second in 1..=20 {
            second_without_a_tick(&node).await;
            let flagged = node.runs(&waits).await[0].flagged_at;
            assert_eq!(flagged.is_some(), second >= 12, "after {second} s");
        }
        assert_eq!(node.runs(&sent).await[0].flagged_at, None);
    });
}

#[test]
fn what_is_late_when_it_is_first_seen_and_leaves_then_is_no_alarm() {
    on_node(async |node| {
        let (leaves, stays) = (node.job(|_| ()).await, node.job(|_| ()).await);
        node.renew_leases().await;
        node.fire(&leaves).await;
        for _ in 0..40 {
            second_without_a_look(node).await;
        }
        node.services.overdue_flagger.step().await;
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        node.round().await;
        assert_eq!(node.states(&leaves).await, [RunState::Running]);
        node.services.overdue_flagger.step().await;
        assert_eq!(alarms(node).await, []);
        node.fire(&stays).await;
        for _ in 0..40 {
            second_without_a_look(node).await;
        }
        node.services.overdue_flagger.step().await;
        assert_eq!(node.runs(&stays).await[0].flagged_at, None);
        second_without_a_tick(node).await;
        let at = node.runs(&stays).await[0].flagged_at;
        assert_eq!(at, Some(node.clock.now()), "a second look saw it");
        assert_eq!(node.runs(&leaves).await[0].flagged_at, None);
        assert_eq!(alarms(node).await.len(), 1);
    });
}

/// A run whose outcome is unknown, and whose alarm is raised now.
async fn unknown(node: &Node) -> i64 {
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    executor.reply(Reply::Status(502));
    let job = node.job(|_| ()).await;
    let run_id = node.fire(&job).await;
    node.round().await;
    node.clock.advance(Duration::from_secs(11));
    node.renew_leases().await;
    node.services.resolver.step().await;
    node.drain().await;
    assert_eq!(node.states(&job).await, [RunState::Unknown]);
    run_id
}

async fn escalates_after(node: &Node, time: Duration) -> AlarmRow {
    node.clock.advance(time);
    node.renew_leases().await;
    node.services.alarm_escalator.step().await;
    alarms(node).await.remove(0)
}

// covers: 001-40
#[test]
fn an_alarm_that_nobody_resolves_escalates_at_its_age_and_once() {
    on_node(async |node| {
        let run_id = unknown(node).await;
        let raised_at = alarms(node).await[0].created_at;
        let late = raised_at + 30 * 60_000 - node.clock.now();
        let until = Duration::from_millis(late.unsigned_abs() - 1);
        let row = escalates_after(node, until).await;
        assert_eq!((row.alarm.run_id, row.is_open, row.level), (Some(run_id), true, 0));
        let row = escalates_after(node, Duration::from_millis(1)).await;
        let at = Some(raised_at + 30 * 60_000);
        assert_eq!((row.is_open, row.level, row.escalated_at), (true, 1, at));
        let again = escalates_after(node, Duration::from_secs(3600)).await;
        assert_eq!(again.escalated_at, at);
        let count = "carillon_alarms_escalated_total{kind=\"unknown\"} 1";
        assert!(node.metrics().contains(count));
        // A person looks at last.
        let (engine, by) = (&node.engine, actor());
        let runs = engine.runs();
        let by_hand = runs.resolve(run_id, Outcome::Succeeded, "the file is there", &by);
        by_hand.await.unwrap();
        let row = alarms(node).await.remove(0);
        assert_eq!((row.is_open, row.level), (false, 1));
        assert_eq!(row.closed_at, Some(node.clock.now()));
    });
}

// covers: 001-40
#[test]
fn what_is_resolved_in_time_never_escalates() {
    on_node(async |node| {
        let run_id = unknown(node).await;
        node.callback(&[(run_id, 200, "late, but here")]).await;
        let row = escalates_after(node, Duration::from_secs(3600)).await;
        assert_eq!((row.is_open, row.level, row.escalated_at), (false, 0, None));
    });
}

#[test]
fn a_word_that_the_audit_cannot_keep_changes_nothing_and_can_be_said_again() {
    on_node(async |node| {
        let run_id = unknown(node).await;
        let say = async || {
            let (engine, by) = (&node.engine, actor());
            let runs = engine.runs();
            let said = runs.resolve(run_id, Outcome::Failed, "the file is not there", &by);
            said.await
        };
        node.sql("ALTER TABLE audit RENAME TO audit_away").await;
        assert!(say().await.is_err());
        let filter = AlarmFilter { open: Some(true), run_id: Some(run_id), limit: 1, ..AlarmFilter::default() };
        assert_eq!(node.store.alarms().list(&filter).await.unwrap().items.len(), 1);
        node.sql("ALTER TABLE audit_away RENAME TO audit").await;
        say().await.unwrap();
        let about = AuditFilter::about(AuditObjectKind::Run, run_id);
        let mut entries = node.store.audit().list(&about).await.unwrap().items;
        entries.retain(|entry| entry.action == "resolve");
        assert_eq!(entries.len(), 1);
        assert!(format!("{entries:?}").contains("the file is not there"));
    });
}
