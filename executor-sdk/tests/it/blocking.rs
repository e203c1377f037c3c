//! Block strategies: what happens to a run while the executor has another run of its job.

use carillon_protocol::RunRequest;
use serde_json::json;
use tempfile::TempDir;

use crate::worker::{Worker, run};
use carillon_testkit::StubAdmin;

fn with(log_id: i64, strategy: &str) -> RunRequest {
    RunRequest { block_strategy: strategy.to_owned(), ..run(log_id, "gate") }
}

// covers: 6.5
#[tokio::test(flavor = "multi_thread")]
async fn serial_runs_wait_for_each_other() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    for log_id in 1..=3 {
        assert_eq!(worker.run(&run(log_id, "gate")).await.code(), 200);
    }
    worker.started(1).await;
    assert!(!worker.is_idle(1).await);
    assert!(worker.is_idle(2).await, "another job");
    let mut other = run(4, "echo");
    other.job_id = 2;
    worker.run(&other).await;
    admin.result(4).await;

    for log_id in 1..=3 {
        assert_eq!(worker.handlers.started.load(std::sync::atomic::Ordering::SeqCst), log_id as u32);
        worker.handlers.gate.add_permits(1);
        admin.result(log_id).await;
        worker.started(u32::try_from(log_id + 1).unwrap().min(3)).await;
    }
    let order: Vec<_> = admin.results().iter().map(|item| item.log_id).collect();
    assert_eq!(order, [4, 1, 2, 3]);
    let all_through = admin.results().iter().all(|item| item.code == 200);
    assert!(all_through);
}

// covers: 6.5
#[tokio::test(flavor = "multi_thread")]
async fn discard_later_refuses_while_one_is_here() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    assert_eq!(worker.run(&with(1, "DISCARD_LATER")).await.code(), 200);
    let refused = worker.run(&with(2, "DISCARD_LATER")).await;
    assert_eq!((refused.code(), refused.msg()), (500, "block strategy effect：Discard Later"));
    worker.handlers.gate.add_permits(1);
    admin.result(1).await;
    idle(&worker).await;
    worker.handlers.gate.add_permits(1);
    assert_eq!(worker.run(&with(2, "DISCARD_LATER")).await.code(), 200, "refused is not seen");
    assert_eq!(admin.result(2).await.code, 200);
}

// covers: 6.5
#[tokio::test(flavor = "multi_thread")]
async fn cover_early_ends_the_running_and_the_queued() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    worker.run(&run(1, "gate")).await;
    worker.started(1).await;
    worker.run(&run(2, "gate")).await;
    assert_eq!(worker.run(&with(3, "COVER_EARLY")).await.code(), 200);
    let text = "block strategy effect：Cover Early";
    let (first, second) = (admin.result(1).await, admin.result(2).await);
    assert_eq!(first.message, Some(format!("{text} [job running, killed]: cancelled")));
    let waiting = "[job not executed, in the job queue, killed.]";
    assert_eq!(second.message, Some(format!("{text} {waiting}")));
    assert_eq!((first.code, second.code), (500, 500));
    worker.handlers.gate.add_permits(1);
    assert_eq!(admin.result(3).await.code, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn kill_means_the_job_or_one_run_of_it() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    for log_id in 1..=4 {
        worker.run(&run(log_id, "gate")).await;
    }
    worker.started(1).await;
    let job = json!({"jobId": 1});
    let one = |id: i64| [(carillon_protocol::headers::RUN_ID, id.to_string())];
    assert_eq!(worker.post("/kill", &job, &one(3)).await.code(), 200);
    let third = admin.result(3).await;
    let reason = "scheduling center kill job.";
    let waiting = "[job not executed, in the job queue, killed.]";
    assert_eq!(third.message, Some(format!("{reason} {waiting}")));
    assert_eq!(worker.post("/kill", &job, &one(1)).await.code(), 200);
    let first = admin.result(1).await;
    assert_eq!((first.code, first.message), (500, Some(format!("{reason} [job running, killed]: cancelled"))));
    let gone = worker.post("/kill", &job, &one(1)).await;
    assert_eq!((gone.code(), gone.msg()), (200, "the run is not here any more."));

    worker.started(2).await;
    assert_eq!(worker.post("/kill", &job, &[]).await.code(), 200);
    assert!(admin.result(2).await.message.unwrap().ends_with("[job running, killed]: cancelled"));
    assert!(admin.result(4).await.message.unwrap().ends_with(waiting));
    idle(&worker).await;
    assert_eq!(worker.post("/kill", &job, &[]).await.msg(), "job thread already killed.");
}

async fn idle(worker: &Worker) {
    let idle = async {
        while !worker.is_idle(1).await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(carillon_testkit::LIMIT, idle).await.unwrap();
}
