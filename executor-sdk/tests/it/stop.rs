//! The orderly stop.

use std::time::Duration;

use tempfile::TempDir;

use crate::admin::{LIMIT, StubAdmin};
use crate::worker::{Worker, new_token, run};

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_says_good_bye_refuses_and_waits() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let mut worker = Worker::start(&admin, &data).await;
    worker.run(&run(1, "gate")).await;
    worker.started(1).await;
    worker.signal();
    admin.until("the good-bye", |calls| calls.iter().any(|call| call.path == "/api/registryRemove")).await;
    assert_eq!(admin.results(), [], "the good-bye comes first");

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

    worker.bench.gate.add_permits(1);
    let bench_result = admin.result(1).await;
    assert_eq!((bench_result.code, bench_result.message.as_deref()), (200, Some("through the gate")));
    worker.ended().await;
    let calls = admin.calls.borrow().clone();
    let good_byes = calls.iter().filter(|call| call.path == "/api/registryRemove").count();
    assert_eq!(good_byes, 1);
    let good_bye = calls.iter().position(|call| call.path == "/api/registryRemove").unwrap();
    assert!(calls[good_bye..].iter().all(|call| call.path != "/api/registry"), "and stays away");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_grace_the_rest_is_interrupted_and_reported() {
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
