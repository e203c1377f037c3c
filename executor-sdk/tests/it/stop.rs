//! The orderly stop.

use std::time::Duration;

use tempfile::TempDir;

use crate::worker::{Worker, new_token, run};
use carillon_testkit::{LIMIT, StubAdmin};

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_deregisters_refuses_new_runs_and_waits() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let mut worker = Worker::start(&admin, &data).await;
    worker.run(&run(1, "gate")).await;
    worker.started(1).await;
    worker.signal();
    admin.wait_for("the deregistration", |calls| calls.iter().any(|call| call.path == "/api/registryRemove")).await;
    assert_eq!(admin.results(), [], "the deregistration comes first");

    let mut id = 100;
    let refused = async {
        loop {
            id += 1;
            let mut request = run(id, "ok");
            request.job_id = i32::try_from(id).unwrap();
            let answer = worker.run(&request).await;
            if answer.code() != 200 {
                return answer.msg().to_owned();
            }
        }
    };
    let reason = tokio::time::timeout(LIMIT, refused).await.unwrap();
    assert_eq!(reason, "the executor is stopping");
    let known = worker.run(&run(1, "gate")).await;
    assert_eq!((known.code(), known.state.as_deref()), (200, Some("running")));

    worker.handlers.gate.add_permits(1);
    let result = admin.result(1).await;
    assert_eq!((result.code, result.message.as_deref()), (200, Some("through the gate")));
    worker.ended().await;
    let calls = admin.calls();
    let deregistrations = calls.iter().filter(|call| call.path == "/api/registryRemove").count();
    assert_eq!(deregistrations, 1);
    let deregistration = calls.iter().position(|call| call.path == "/api/registryRemove").unwrap();
    assert!(calls[deregistration..].iter().all(|call| call.path != "/api/registry"), "no heartbeat follows");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_grace_running_runs_are_reported_as_interrupted() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let grace = Duration::from_millis(50);
    let mut worker = Worker::with(&admin, data.path(), &new_token(), |b| b.grace(grace)).await;
    worker.run(&run(1, "gate")).await;
    worker.started(1).await;
    worker.run(&run(2, "gate")).await;
    worker.signal();
    worker.ended().await;
    let items = admin.results();
    let find = |id| items.iter().find(|item| item.log_id == id).unwrap();
    assert_eq!(
        find(1).message.as_deref(),
        Some("interrupted: the executor is stopping [job running, killed]: cancelled")
    );
    assert!(find(2).message.as_ref().unwrap().starts_with("interrupted: the executor is stopping [job not executed"));
}
