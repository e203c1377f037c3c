//! How runs end.

use carillon_protocol::RunRequest;
use tempfile::TempDir;

use crate::worker::{Worker, run};
use carillon_testkit::StubAdmin;

#[tokio::test(flavor = "multi_thread")]
async fn errors_and_panics_fail_their_run_and_nothing_else() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    for (log_id, handler) in [(1, "fail"), (2, "panic"), (3, "ok")] {
        assert_eq!(worker.run(&run(log_id, handler)).await.code(), 200);
    }
    let (failed, panicked, fine) = (admin.result(1).await, admin.result(2).await, admin.result(3).await);
    assert_eq!((failed.code, failed.message.as_deref()), (500, Some("invalid digit found in string")));
    assert_eq!((panicked.code, panicked.message.as_deref()), (500, Some("handler panicked: nothing is there")));
    assert_eq!((fine.code, fine.message), (200, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_out_of_time_is_reported_as_502() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let request = RunRequest { timeout_seconds: 1, ..run(1, "gate") };
    worker.run(&request).await;
    let item = admin.result(1).await;
    assert_eq!((item.code, item.message.as_deref()), (502, Some("job execute timeout")));
}
