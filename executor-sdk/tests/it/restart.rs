//! The journal over a crash: dropped without a stop, started again on the same folder.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use carillon_protocol::headers;
use serde_json::to_value;
use tempfile::TempDir;

use crate::worker::{Worker, new_token, run};
use carillon_testkit::{Reply, StubAdmin, results};

// covers: 000-14
#[tokio::test(flavor = "multi_thread")]
async fn accepted_runs_are_reported_after_a_crash() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let boot_id = worker.handle.boot_id().to_owned();
    worker.run(&run(1, "ok")).await;
    admin.result(1).await;
    acknowledged(&data, 1).await;
    admin.reply_to_results(Reply::Cut);
    worker.run(&run(2, "ok")).await;
    admin.result(2).await;
    worker.run(&run(3, "gate")).await;
    worker.started(1).await;
    worker.run(&run(4, "gate")).await;
    worker.crash().await;

    let after = StubAdmin::start().await;
    let worker = Worker::start(&after, &data).await;
    assert_ne!(worker.handle.boot_id(), boot_id);
    after.wait_for("three results", |calls| results(calls).len() >= 3).await;
    let items = after.results();
    let ids: Vec<_> = items.iter().map(|item| item.log_id).collect();
    assert_eq!(ids, [2, 3, 4], "1 was acknowledged, 2 was not, 3 and 4 were cut off");
    assert_eq!((items[0].code, items[0].message.as_ref()), (200, None));
    for cut_off in &items[1..] {
        let text = "interrupted: the executor was restarted before the run ended";
        assert_eq!((cut_off.code, cut_off.message.as_deref()), (500, Some(text)));
        assert_eq!(cut_off.log_date_time, crate::worker::DUE_AT);
    }
    for log_id in 1..=4 {
        let again = worker.run(&run(log_id, "gate")).await;
        assert_eq!((again.code(), again.state.as_deref()), (200, Some("finished")), "{log_id}");
    }
    assert_eq!(worker.handlers.started.load(Ordering::SeqCst), 0, "nothing runs twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_within_a_line_loses_that_line_only() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    admin.reply_to_results(Reply::Cut);
    let attempt = [(headers::FIRE_KEY, "1:0:5:0".to_owned()), (headers::ATTEMPT, "2".to_owned())];
    worker.post("/run", &to_value(run(1, "ok")).unwrap(), &attempt).await;
    admin.result(1).await;
    worker.crash().await;
    let journal = data.path().join("journal");
    let file = files(&journal).remove(0);
    let mut file = OpenOptions::new().append(true).open(file).unwrap();
    file.write_all(b"A 99 17900").unwrap();

    let after = StubAdmin::start().await;
    let worker = Worker::start(&after, &data).await;
    assert_eq!(after.result(1).await.code, 200);
    assert!(after.results().iter().all(|item| item.log_id == 1));
    let lower = [(headers::FIRE_KEY, "1:0:5:0".to_owned()), (headers::ATTEMPT, "1".to_owned())];
    let lower = worker.post("/run", &to_value(run(2, "ok")).unwrap(), &lower).await;
    assert_eq!(lower.msg(), "attempt 2 of this fire was here already");
    worker.crash().await;
    assert_eq!(files(&journal).len(), 1, "restarts leave one file");
}

/// The journal's files without its id.
fn files(journal: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(journal).unwrap();
    let paths = all.map(|entry| entry.unwrap().path());
    let is_log = |path: &PathBuf| path.extension().is_some_and(|it| it == "log");
    paths.filter(is_log).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn results_kept_by_a_stop_are_sent_by_the_next_start() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let token = new_token();
    let mut worker = Worker::with(&admin, data.path(), &token, |b| b.grace(std::time::Duration::ZERO)).await;
    admin.reply_to_results(Reply::refused("not now"));
    worker.run(&run(1, "ok")).await;
    admin.result(1).await;
    worker.signal();
    worker.ended().await;
    let after = StubAdmin::start().await;
    let _worker = Worker::start(&after, &data).await;
    assert_eq!(after.result(1).await.code, 200);
}

/// Waits until the journal has the acknowledgement of a run.
async fn acknowledged(data: &TempDir, log_id: i64) {
    let line = format!("K {log_id}\n");
    let written = async {
        loop {
            let files = fs::read_dir(data.path().join("journal")).unwrap();
            let mut texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
            if texts.any(|text| text.contains(&line)) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(carillon_testkit::LIMIT, written).await.unwrap();
}

// covers: F4
#[tokio::test(flavor = "multi_thread")]
async fn a_journal_keeps_its_id_and_refuses_runs_that_were_sent_to_another() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let announced = || {
        let calls = admin.calls();
        let mut beats = calls.iter().filter(|call| call.path == "/api/registry");
        let last = beats.next_back().unwrap();
        last.header(headers::JOURNAL_ID).unwrap().to_owned()
    };
    let worker = Worker::start(&admin, &data).await;
    let first = announced();
    worker.crash().await;
    let worker = Worker::start(&admin, &data).await;
    assert_eq!(announced(), first, "the journal is the same after a restart");
    worker.crash().await;

    let empty = TempDir::new().unwrap();
    let worker = Worker::start(&admin, &empty).await;
    let second = announced();
    assert_ne!(second, first);
    let again = |id: &str| [(headers::JOURNAL_ID, id.to_owned())];
    let body = to_value(run(1, "gate")).unwrap();
    let refused = worker.post("/run", &body, &again(&first)).await;
    assert_eq!((refused.code(), refused.msg()), (412, "this executor keeps another journal and does not know the run"));
    let taken = worker.post("/run", &body, &again(&second)).await;
    assert_eq!(taken.code(), 200);
    let known = worker.post("/run", &body, &again(&first)).await;
    assert_eq!(known.code(), 200, "it has the run already");
    worker.started(1).await;
}
