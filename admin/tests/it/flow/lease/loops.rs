//! Loops: who gets them, how they are kept, and when they go to another executor.

use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{AlarmKind, Clock as _, Durability, JobDraft, RunState, ScheduleDraft};
use carillon_store::alarm::alarms::AlarmFilter;
use carillon_store::lease::loops::LoopLease;
use carillon_store::{Actor, Job};
use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::{Value, json};

use crate::flow::node::{Node, START, on_node};

const LEASE_MS: u64 = 5_000;

/// A job whose loop an executor is to have.
async fn loop_job(node: &Node) -> Job {
    node.every(2, |draft| (draft.params, draft.durability) = ("p".into(), Durability::BestEffort)).await
}

async fn announce(node: &Node, executor: &RecordingExecutor, boot_id: &str) {
    let headers = [("Carillon-Boot-Id", boot_id), ("Carillon-Capabilities", "idem,batch,loop")];
    node.register_of("orders", &executor.address, &headers).await;
}

async fn look(node: &Node) -> usize {
    node.renew_leases().await;
    node.services.loop_granter.step().await.did
}

async fn lease(node: &Node, job: &Job) -> LoopLease {
    node.store.loops().get(job.id).await.unwrap().unwrap()
}

/// The report of a loop that has called its handler so often; the payload of the answer.
async fn report(node: &Node, boot_id: &str, job: &Job, epoch: i64, fired: u64, ends: bool) -> Value {
    let headers = [("XXL-JOB-APPNAME", "orders"), ("Carillon-Boot-Id", boot_id)];
    let body = json!({"loops": [{"jobId": job.id, "epoch": epoch, "counters": {"fired": fired}, "ends": ends}]});
    let answer = node.post_with("api/loops", &headers, &body).await;
    assert_eq!(answer["code"], 200, "{answer}");
    answer["content"].clone()
}

#[test]
fn a_loop_goes_to_one_executor_that_takes_loops_and_stays_there_while_it_reports() {
    on_node(async |node| {
        let (stock, own) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        let job = loop_job(node).await;
        node.register_own(&stock, "boot-1").await;
        assert_eq!(look(node).await, 0, "it does not say that it takes loops");
        announce(node, &own, "boot-2").await;
        assert_eq!(look(node).await, 1);
        let grant = json!({"jobId": job.id, "epoch": 1, "handler": "handle", "params": "p", "timeoutSeconds": 0});
        assert_eq!(own.received("/loop").iter().map(|call| call.json()).collect::<Vec<_>>(), [grant]);
        let answer = report(node, "boot-2", &job, 1, 0, false).await;
        let timing = json!({"kind": "rate", "periodMs": 2_000, "from": START});
        let expected =
            json!({"now": START, "leaseMs": LEASE_MS, "loops": [{"jobId": job.id, "epoch": 1, "timing": timing}]});
        assert_eq!(answer, expected);
        for (boot_id, epoch) in [("boot-1", 1), ("boot-2", 0), ("boot-2", 2)] {
            assert_eq!(report(node, boot_id, &job, epoch, 9, false).await["loops"], json!([]));
        }
        for fired in 1..10 {
            node.clock.advance(Duration::from_millis(LEASE_MS - 1));
            node.register_own(&stock, "boot-1").await;
            announce(node, &own, "boot-2").await;
            assert_eq!(report(node, "boot-2", &job, 1, fired, false).await["loops"][0]["epoch"], 1);
            assert_eq!(look(node).await, 0);
        }
        assert_eq!((own.received("/loop").len(), stock.received("/loop").len()), (1, 0));
        let lease = lease(node, &job).await;
        assert_eq!(carillon_engine::loops::totals(&lease).fired, 9);
    });
}

// covers: 000-18
#[test]
fn the_loop_of_a_silent_executor_goes_to_another_one_when_its_lease_is_over() {
    on_node(async |node| {
        let (first, second) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        let job = loop_job(node).await;
        announce(node, &first, "boot-1").await;
        assert_eq!(look(node).await, 1);
        report(node, "boot-1", &job, 1, 7, false).await;
        first.die().await;
        announce(node, &second, "boot-2").await;
        node.clock.advance(Duration::from_millis(LEASE_MS));
        assert_eq!(look(node).await, 0, "until the last millisecond");
        assert_eq!(report(node, "boot-1", &job, 1, 8, false).await["loops"], json!([]), "and it is over then");
        // The route may try the one that is gone first: it has not begun there.
        node.clock.advance(Duration::from_millis(1));
        for _ in 0..2 {
            look(node).await;
        }
        let granted = second.received("/loop");
        let [grant] = &granted[..] else { panic!("{granted:?}") };
        let lease = lease(node, &job).await;
        assert_eq!(grant.json()["epoch"].as_i64(), Some(lease.epoch));
        assert!(lease.epoch > 1 && lease.boot_id == "boot-2", "{lease:?}");
        assert_eq!(carillon_engine::loops::totals(&lease).fired, 7, "what was reported in time");
        report(node, "boot-2", &job, lease.epoch, 5, false).await;
        let lease = node.store.loops().get(job.id).await.unwrap().unwrap();
        assert_eq!(carillon_engine::loops::totals(&lease).fired, 12);
    });
}

#[test]
fn a_loop_whose_lease_ran_out_goes_to_another_executor_than_before() {
    on_node(async |node| {
        let (first, second) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        let job = loop_job(node).await;
        announce(node, &first, "boot-1").await;
        announce(node, &second, "boot-2").await;
        assert_eq!(look(node).await, 1);
        let before = lease(node, &job).await;
        // Its heartbeats go on and it takes grants, but it renews nothing.
        node.clock.advance(Duration::from_millis(LEASE_MS + 1));
        assert_eq!(look(node).await, 1);
        let after = lease(node, &job).await;
        assert_eq!((before.epoch, after.epoch), (1, 2));
        assert_ne!(after.boot_id, before.boot_id);
    });
}

#[test]
fn a_loop_that_its_executor_does_not_answer_for_goes_to_another_one() {
    on_node(async |node| {
        let (hung, well) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        let job = loop_job(node).await;
        hung.reply_to("/loop", Reply::Never);
        announce(node, &hung, "boot-1").await;
        look(node).await;
        let lease_of_none = lease(node, &job).await;
        assert_eq!((lease_of_none.epoch, lease_of_none.expires_at), (2, 0), "it fires nothing before a renewal");
        assert_eq!(report(node, "boot-1", &job, 1, 0, false).await["loops"], json!([]), "and has none any more");
        announce(node, &well, "boot-2").await;
        assert_eq!(look(node).await, 1);
        let lease = lease(node, &job).await;
        assert_eq!((lease.epoch, &*lease.boot_id), (3, "boot-2"));
    });
}

#[test]
fn a_loop_that_is_given_back_goes_on_at_once() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        let job = loop_job(node).await;
        announce(node, &executor, "boot-1").await;
        look(node).await;
        report(node, "boot-1", &job, 1, 3, false).await;
        assert_eq!(report(node, "boot-1", &job, 1, 4, true).await["loops"], json!([]));
        assert_eq!(look(node).await, 1);
        let lease = lease(node, &job).await;
        assert_eq!((lease.epoch, carillon_engine::loops::totals(&lease).fired), (2, 4));
    });
}

#[test]
fn a_stopped_loop_goes_on_when_its_executor_confirms_that_it_has_stopped() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        let job = loop_job(node).await;
        announce(node, &executor, "boot-1").await;
        look(node).await;
        executor.reply_to("/loop/stop", Reply::Status(502));
        node.store.loops().stop(&[(job.id, 1)]).await.unwrap();
        assert_eq!(look(node).await, 0, "it may still fire");
        assert_eq!(executor.received("/loop").len(), 1);
        let last = json!({"jobId": job.id, "epoch": 1, "counters": {"fired": 6}, "ends": true});
        executor.reply_to("/loop/stop", Reply::Body(json!({"code": 200, "content": last}).to_string()));
        assert_eq!(look(node).await, 2, "stopped and granted");
        assert_eq!(executor.received("/loop/stop")[0].json(), json!({"jobId": job.id, "epoch": 2, "bootId": "boot-1"}));
        let lease = lease(node, &job).await;
        assert_eq!((lease.epoch, carillon_engine::loops::totals(&lease).fired), (3, 6));
    });
}

#[test]
fn an_executor_that_refuses_a_loop_is_asked_again_after_a_while() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        let job = loop_job(node).await;
        executor.reply_to("/loop", Reply::Body(r#"{"code":500,"msg":"job handler [handle] not found."}"#.to_owned()));
        announce(node, &executor, "boot-1").await;
        look(node).await;
        for _ in 0..5 {
            node.clock.advance(Duration::from_secs(1));
            assert_eq!(look(node).await, 0);
        }
        assert_eq!(executor.received("/loop").len(), 1);
        assert_eq!(lease(node, &job).await.expires_at, 0, "it has not begun there");
        executor.reply_to("/loop", Reply::Accept);
        node.clock.advance(Duration::from_secs(5));
        announce(node, &executor, "boot-1").await;
        assert_eq!(look(node).await, 1);
        assert!(lease(node, &job).await.expires_at > node.clock.now());
    });
}

#[test]
fn a_best_effort_job_has_no_runs_and_an_edit_ends_its_grant() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        let job = loop_job(node).await;
        announce(node, &executor, "boot-1").await;
        look(node).await;
        node.advance(2_000).await;
        node.advance(2_000).await;
        assert_eq!(node.states(&job).await, [] as [RunState; 0]);
        let job = node.edit(&job, JobDraft { params: "q".into(), ..job.draft.clone() }).await;
        assert_eq!(look(node).await, 2, "stopped and granted");
        let granted = executor.received("/loop");
        assert_eq!((granted[1].json()["epoch"].as_i64(), &granted[1].json()["params"]), (Some(3), &json!("q")));
        node.edit(&job, JobDraft { enabled: false, ..job.draft.clone() }).await;
        assert_eq!(look(node).await, 1, "stopped");
        assert!(!lease(node, &job).await.is_wanted);
    });
}

#[test]
fn a_best_effort_job_is_saved_unless_another_job_starts_it() {
    on_node(async |node| {
        let schedule = ScheduleDraft::fixed_rate(1);
        let draft =
            JobDraft { durability: Durability::BestEffort, schedule, ..JobDraft::new("orders", "tick", "handle") };
        let saved = node.engine.jobs().create(draft.clone(), None, &Actor::engine()).await.unwrap();
        assert_eq!((saved.draft.durability, saved.next_fire_at), (Durability::BestEffort, None));
        let child = node.job(|_| ()).await;
        let parent = node.job(|draft| draft.children = vec![child.id]).await;
        let refused = node.engine.jobs().update(child.id, &draft, None, &Actor::engine()).await.unwrap_err();
        let carillon_engine::Error::Invalid(errors) = refused else { panic!("{refused:?}") };
        let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let starts = format!("job {} starts this one; a best-effort job fires by its schedule alone", parent.id);
        assert_eq!(texts, [format!("durability: {starts}")]);
    });
}

#[test]
fn a_loop_that_was_moved_to_another_app_names_no_executor_and_keeps_its_totals() {
    on_node(async |node| {
        let (own, job) = (RecordingExecutor::start().await, loop_job(node).await);
        announce(node, &own, "boot-1").await;
        assert_eq!(look(node).await, 1);
        report(node, "boot-1", &job, 1, 600, false).await;
        let before = node.engine.loop_of(&job).await.unwrap().unwrap();
        assert_eq!((before.totals.fired, before.lease.address), (600, own.address.clone()));
        node.engine.apps().create("payroll", None, &Actor::engine()).await.unwrap();
        let draft = JobDraft { app: "payroll".into(), ..job.draft.clone() };
        let moved = node.engine.jobs().update(job.id, &draft, None, &Actor::engine()).await.unwrap();
        let after = node.engine.loop_of(&moved).await.unwrap().unwrap();
        assert_eq!((after.totals.fired, after.lease.address.as_str()), (600, ""));
        assert_eq!((after.lease.granted_at, after.lease.reported_at, after.report.is_none()), (0, 0, true));
    });
}

#[test]
fn a_loop_without_an_executor_has_one_alarm_until_it_is_reported() {
    on_node(async |node| {
        let job = loop_job(node).await;
        for expected in [0, 0, 1, 1] {
            look(node).await;
            assert_eq!(alarms(node, true).await.len(), expected);
            node.clock.advance(Duration::from_secs(5));
        }
        assert_eq!(alarms(node, true).await, ["no executor has reported the loop for 10 s or longer"]);
        let executor = RecordingExecutor::start().await;
        announce(node, &executor, "boot-1").await;
        look(node).await;
        report(node, "boot-1", &job, 1, 1, false).await;
        node.clock.advance(Duration::from_millis(LEASE_MS - 1));
        report(node, "boot-1", &job, 1, 2, false).await;
        node.clock.advance(Duration::from_millis(1));
        look(node).await;
        node.services.alarm_escalator.step().await;
        assert_eq!(alarms(node, true).await, [""; 0]);
        assert_eq!(alarms(node, false).await.len(), 1);
    });
}

#[test]
fn a_loop_whose_calls_fail_has_an_alarm_until_one_succeeds() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        let job = loop_job(node).await;
        announce(node, &executor, "boot-1").await;
        look(node).await;
        for (failures, expected) in [(9, 0), (10, 1), (1, 1), (0, 0)] {
            let headers = [("XXL-JOB-APPNAME", "orders"), ("Carillon-Boot-Id", "boot-1")];
            let counters = json!({"failedInRow": failures});
            let failure = json!({"at": START, "text": "no route"});
            let body = json!({"loops": [{"jobId": job.id, "epoch": 1, "counters": counters, "lastFailure": failure}]});
            for _ in 0..2 {
                assert_eq!(node.post_with("api/loops", &headers, &body).await["code"], 200);
                node.clock.advance(Duration::from_millis(2_500));
            }
            look(node).await;
            node.services.alarm_escalator.step().await;
            assert_eq!(alarms(node, true).await.len(), expected, "{failures} in a row");
        }
        assert_eq!(alarms(node, false).await, ["10 calls of the loop have failed in a row: no route"]);
    });
}

/// The texts of alarms of loops.
async fn alarms(node: &Node, open: bool) -> Vec<String> {
    let filter = AlarmFilter { kinds: vec![AlarmKind::Loop], open: Some(open), limit: 10, ..AlarmFilter::default() };
    node.store.alarms().list(&filter).await.unwrap().items.into_iter().map(|row| row.alarm.text).collect()
}
