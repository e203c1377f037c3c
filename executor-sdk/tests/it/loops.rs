//! Loops of a running executor, over HTTP.

use carillon_protocol::{LoopHistory, LoopRenewals, LoopReport, LoopReports, LoopTiming, RenewedLoop, parse_loops};
use carillon_testkit::{Call, LIMIT, Reply, StubAdmin};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worker::Worker;

const NOW: i64 = 1_790_000_000_000;

/// The admin renews these loops, and no others.
fn renew(admin: &StubAdmin, loops: &[(i32, i64)]) {
    let timing = LoopTiming::Rate { period_ms: 50, from: 0 };
    let renewed = |(job_id, epoch): &(i32, i64)| RenewedLoop { job_id: *job_id, epoch: *epoch, timing: timing.clone() };
    let answer = LoopRenewals { now: NOW, lease_ms: 5_000, loops: loops.iter().map(renewed).collect() };
    admin.reply_to("/api/loops", Reply::Body(json!({"code": 200, "content": answer}).to_string()));
}

fn reports(call: &Call) -> Vec<LoopReport> {
    if call.path != "/api/loops" {
        return vec![];
    }
    parse_loops::<LoopReports>(call.body.as_bytes()).unwrap().loops
}

fn grant(job_id: i32, epoch: i64, handler: &str) -> Value {
    json!({"jobId": job_id, "epoch": epoch, "handler": handler, "params": "hello"})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_loop_is_granted_renewed_and_stopped() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    renew(&admin, &[(1, 7)]);
    let refused = worker.post("/loop", &grant(1, 7, "nope"), &[]).await;
    assert_eq!((refused.code(), refused.msg()), (500, "job handler [nope] not found."));
    assert_eq!(worker.post("/loop", &grant(1, 7, "echo"), &[]).await.code(), 200);
    admin.wait_for("the report of the grant", |calls| calls.iter().flat_map(reports).any(|it| it.epoch == 7)).await;
    let called = async {
        loop {
            let answer = worker.post("/loop/recent", &json!({"jobId": 1}), &[]).await;
            let history: LoopHistory = serde_json::from_value(answer.body["content"].clone()).unwrap();
            if !history.runs.is_empty() {
                return history;
            }
        }
    };
    let history = tokio::time::timeout(LIMIT, called).await.unwrap();
    assert_eq!(history.runs[0].text.as_deref(), Some("hello"));
    let other = worker.post("/loop/stop", &json!({"jobId": 1, "epoch": 8, "bootId": "another"}), &[]).await;
    assert_eq!((other.code(), other.msg()), (500, "the loop is of another start of this executor"));
    let stop = json!({"jobId": 1, "epoch": 8, "bootId": worker.handle.boot_id()});
    let stopped = worker.post("/loop/stop", &stop, &[]).await;
    let report: LoopReport = serde_json::from_value(stopped.body["content"].clone()).unwrap();
    assert!(report.ends && report.counters.fired > 0, "{report:?}");
    let again = worker.post("/loop/stop", &stop, &[]).await;
    assert_eq!((again.code(), again.msg()), (200, "the loop is not here any more."));
    assert_eq!(admin.results(), [], "calls have no results of their own");
}

#[tokio::test(flavor = "multi_thread")]
async fn loops_are_given_back_after_the_deregistration() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let mut worker = Worker::start(&admin, &data).await;
    renew(&admin, &[(1, 7)]);
    assert_eq!(worker.post("/loop", &grant(1, 7, "ok"), &[]).await.code(), 200);
    admin.wait_for("a report of calls", |calls| calls.iter().flat_map(reports).any(|it| it.counters.fired > 0)).await;
    worker.signal();
    worker.ended().await;
    let calls = admin.calls();
    let place = |wanted: &dyn Fn(&Call) -> bool| calls.iter().position(wanted);
    let deregistration = place(&|call| call.path == "/api/registryRemove").unwrap();
    let last = calls.iter().rposition(|call| reports(call).iter().any(|report| report.ends)).unwrap();
    assert!(last > 0 && deregistration < calls.len());
    let report = reports(&calls[last]).remove(0);
    assert_eq!((report.job_id, report.epoch, report.counters.running), (1, 7, 0));
}
