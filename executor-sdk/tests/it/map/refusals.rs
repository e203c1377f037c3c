//! What an executor, an admin or the limits of items refuse.

use carillon_executor::{ExecutorBuilder, ItemContext, JobError, MapContext};
use carillon_protocol::{BatchRun, MAX_MAP_ITEMS, RunBatch, headers};
use carillon_testkit::{Reply, StubAdmin, map_pages};
use serde_json::to_value;
use tempfile::TempDir;

use super::{ended, map_worker, start};
use crate::worker::{Worker, new_token, run};

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_refuses_runs_of_a_phase_that_it_does_not_have() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    for (handler, phase, reason) in [
        ("ok", "items", "job handler [ok] takes no items: register it with map() or map_reduce()"),
        ("ok", "reduce", "job handler [ok] takes no items: register it with map() or map_reduce()"),
        ("numbers", "reduce", "job handler [numbers] has no reduce: register it with map_reduce()"),
        (
            "squares",
            "shuffle",
            "job handler [squares] knows no runs with this Carillon-Phase: its executor is older than the admin",
        ),
    ] {
        let header = [(headers::PHASE, phase.to_owned())];
        let answer = worker.post("/run", &to_value(run(1, handler)).unwrap(), &header).await;
        assert_eq!((answer.code(), answer.msg()), (500, reason));
        let of_batch = BatchRun {
            run: run(2, handler),
            attempt: 1,
            not_after: i64::MAX,
            phase: Some(phase.to_owned()),
            ..BatchRun::default()
        };
        let batch = to_value(RunBatch { runs: vec![of_batch] }).unwrap();
        let answer = worker.post("/runs", &batch, &[]).await;
        assert_eq!(
            (&answer.body["content"][0]["code"], &answer.body["content"][0]["msg"]),
            (&500.into(), &reason.into())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_that_are_no_delivery_or_reduction_fail_the_run() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    for (run_id, phase, text) in [
        (1, headers::PHASE_ITEMS, "the delivery cannot be read: "),
        (2, headers::PHASE_REDUCE, "the parameters of the reduce run cannot be read: "),
    ] {
        let header = [(headers::PHASE, phase.to_owned())];
        let answer = worker.post("/run", &to_value(run(run_id, "squares")).unwrap(), &header).await;
        assert_eq!(answer.code(), 200);
        let (code, message) = ended(&admin, run_id).await;
        assert!(code == 500 && message.starts_with(text), "{message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_page_fails_the_run_with_the_reason() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let unknown = "the admin knows no items of runs: it is no Carillon admin, or an older version (";
    for (reply, text) in [
        (
            Reply::refused("run 1 is itself a delivery"),
            "the admin refuses the items of this run: run 1 is itself a delivery",
        ),
        (Reply::Status(404), unknown),
        (Reply::refused("invalid request, uri-mapping(map) not found."), unknown),
    ] {
        let before = map_pages(&admin.calls()).len();
        admin.reply_to("/api/map", reply);
        let run = start(&admin, &worker, "numbers", "2500").await;
        let (code, message) = ended(&admin, run).await;
        assert!(code == 500 && message.starts_with(text), "{message}");
        assert_eq!(map_pages(&admin.calls()).len(), before + 1, "a refusal is final");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn items_beyond_the_limits_fail_the_run_before_they_are_sent() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let map = async |ctx: MapContext| match ctx.params() {
        "long" => ctx.map(["short".to_owned(), "\"".repeat(8_192)]).await,
        _ => ctx.map((0..=MAX_MAP_ITEMS).map(|_| "x")).await,
    };
    let item = |_: ItemContext| async { Ok::<_, JobError>(()) };
    let settings = |builder: ExecutorBuilder| builder.map("map", (map, item));
    let worker = Worker::with(&admin, data.path(), &new_token(), settings).await;
    let long = start(&admin, &worker, "map", "long").await;
    let text = "item 1 has 16386 bytes as JSON; at most 16384 are taken";
    assert_eq!(ended(&admin, long).await, (500, text.to_owned()));
    assert!(map_pages(&admin.calls()).is_empty());
    let many = start(&admin, &worker, "map", "many").await;
    assert_eq!(ended(&admin, many).await, (500, "too many items: a run has at most 100000".to_owned()));
}
