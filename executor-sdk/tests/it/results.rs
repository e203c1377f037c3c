//! Results are repeated until an admin accepts them; repeated requests change nothing.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use carillon_protocol::headers;
use serde_json::to_value;
use tempfile::TempDir;

use crate::worker::{Worker, new_token, run};
use carillon_testkit::{Call, Reply, StubAdmin, results};

async fn is_repeated_after(manner: Reply) {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    admin.reply_to_results(manner);
    worker.run(&run(1, "ok")).await;
    admin.result(1).await;
    admin.reply_to_results(Reply::Accept);
    let again = |calls: &[_]| results(calls).len() >= 2;
    let calls = admin.wait_for("the repeated result", again).await;
    let items = results(&calls);
    assert!(items.iter().all(|item| item == &items[0]), "repeated unchanged");
    assert_eq!(items[0].code, 200, "a success stays a success");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_callback_is_repeated() {
    is_repeated_after(Reply::refused("not now")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_answered_by_a_proxy_is_repeated() {
    is_repeated_after(Reply::Status(502)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_callback_is_repeated() {
    is_repeated_after(Reply::Cut).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_admin_takes_over() {
    let (failing, working, data) = (StubAdmin::start().await, StubAdmin::start().await, TempDir::new().unwrap());
    let second = working.address.clone();
    let worker = Worker::with(&failing, data.path(), &new_token(), |builder| builder.admin(second)).await;
    failing.reply_to_results(Reply::Cut);
    worker.run(&run(1, "ok")).await;
    assert_eq!(working.result(1).await.code, 200);
    worker.run(&run(2, "ok")).await;
    working.result(2).await;
    assert!(failing.results().iter().all(|item| item.log_id != 2), "the admin that accepted last is tried first");
}

// covers: 001-24
#[tokio::test(flavor = "multi_thread")]
async fn callback_replay_one_result_and_one_run() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    assert_eq!(worker.run(&run(1, "gate")).await.state, None);
    worker.started(1).await;
    worker.run(&run(2, "gate")).await;
    for (log_id, state) in [(1, "running"), (2, "queued")] {
        let again = worker.run(&run(log_id, "gate")).await;
        assert_eq!((again.code(), again.state.as_deref()), (200, Some(state)));
        assert_eq!(again.msg(), format!("already have it: {state}"));
    }
    worker.handlers.gate.add_permits(2);
    let first = admin.result(1).await;
    for count in 2..=3 {
        let again = worker.run(&run(1, "gate")).await;
        assert_eq!((again.code(), again.state.as_deref()), (200, Some("finished")));
        let of_first = move |calls: &[_]| results(calls).iter().filter(|item| item.log_id == 1).count();
        let calls = admin.wait_for("the result again", |calls| of_first(calls) >= count).await;
        assert!(results(&calls).iter().filter(|item| item.log_id == 1).all(|item| *item == first));
    }
    assert_eq!(worker.handlers.started.load(Ordering::SeqCst), 2, "each ran once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lower_attempt_of_a_fire_is_refused() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let attempt = |number: i32| [(headers::FIRE_KEY, "1:0:5:0".to_owned()), (headers::ATTEMPT, number.to_string())];
    let second = worker.post("/run", &to_value(run(12, "ok")).unwrap(), &attempt(2)).await;
    assert_eq!(second.code(), 200);
    let first = worker.post("/run", &to_value(run(11, "ok")).unwrap(), &attempt(1)).await;
    assert_eq!((first.code(), first.msg()), (500, "attempt 2 of this fire was here already"));
    let third = worker.post("/run", &to_value(run(13, "ok")).unwrap(), &attempt(3)).await;
    assert_eq!(third.code(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_runs_need_few_callbacks() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let send = async |lane: i32| {
        for number in 0..25 {
            let mut request = run(i64::from(lane * 25 + number + 1), "ok");
            request.job_id = lane * 25 + number + 1;
            assert_eq!(worker.run(&request).await.code(), 200);
        }
    };
    futures_util::future::join_all((0..20).map(send)).await;
    let calls = admin.wait_for("500 results", |calls| results(calls).len() >= 500).await;
    let mut ids: Vec<_> = results(&calls).iter().map(|item| item.log_id).collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(1..=500), "each once");
    let callbacks = calls.iter().filter(|call| call.path == "/api/callback").count();
    assert!(callbacks < 250, "{callbacks} callbacks");
}

// covers: G4
#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_cannot_be_stored_holds_up_no_other() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    admin.reply_to_results(Reply::Cut);
    for log_id in 1..=40 {
        worker.run(&run(log_id, "ok")).await;
    }
    admin.result(40).await;
    admin.reply_to_result_of(7, Reply::Cut);
    admin.reply_to_results(Reply::Accept);
    let before = admin.calls().len();
    let accepted = move |calls: &[Call]| {
        let stored = |call: &&Call| !results(std::slice::from_ref(*call)).iter().any(|item| item.log_id == 7);
        let stored: Vec<Call> = calls[before..].iter().filter(stored).cloned().collect();
        results(&stored).iter().map(|item| item.log_id).collect::<BTreeSet<i64>>()
    };
    let others: BTreeSet<i64> = (1..=40).filter(|id| *id != 7).collect();
    admin.wait_for("all others", |calls| accepted(calls) == others).await;
    worker.run(&run(41, "ok")).await;
    admin.wait_for("one that comes later", |calls| accepted(calls).contains(&41)).await;
}
