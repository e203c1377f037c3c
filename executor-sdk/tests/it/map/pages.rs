//! The items of a run on their way to the admin.

use std::sync::Arc;

use carillon_executor::{ExecutorBuilder, ItemContext, JobError, MapContext};
use carillon_protocol::{MAX_PAGE_BYTES, MapPage};
use carillon_testkit::{Call, Reply, StubAdmin, map_pages};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::{ended, map_worker, start};
use crate::worker::{Worker, new_token};

/// A worker with one job `map`.
async fn worker_with<F>(
    admin: &StubAdmin,
    data: &TempDir,
    map: impl Fn(MapContext) -> F + Send + Sync + 'static,
) -> Worker
where
    F: Future<Output = Result<(), JobError>> + Send + 'static,
{
    let item = |_: ItemContext| async { Ok(()) };
    let settings = |builder: ExecutorBuilder| builder.map("map", (map, item));
    Worker::with(admin, data.path(), &new_token(), settings).await
}

fn lengths(pages: &[MapPage]) -> Vec<(i32, usize)> {
    pages.iter().map(|page| (page.page, page.items.len())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn items_are_handed_in_as_pages_in_their_order() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let run = start(&admin, &worker, "numbers", "2500").await;
    assert_eq!(ended(&admin, run).await, (200, "2500 numbers".to_owned()));
    let pages = map_pages(&admin.calls());
    assert_eq!(lengths(&pages), [(0, 1000), (1, 1000), (2, 500)]);
    let items = pages.iter().flat_map(|page| &page.items);
    assert!(items.cloned().eq((0..2500).map(|number: i32| number.to_string())));
    assert!(pages.iter().all(|page| (page.log_id, page.chunk, page.reduce) == (run, None, false)), "{pages:?}");

    let run = start(&admin, &worker, "squares", "").await;
    assert_eq!(ended(&admin, run).await.0, 200);
    let values = ["[1,2]", "[3,4]"].map(str::to_owned).to_vec();
    let page = MapPage { log_id: run, page: 0, items: values, chunk: Some(10), reduce: true };
    assert_eq!(map_pages(&admin.calls()).last(), Some(&page));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_has_at_most_one_mebibyte_of_json() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = worker_with(&admin, &data, async |ctx| ctx.map((0..300).map(|_| "\"".repeat(8_000))).await).await;
    let run = start(&admin, &worker, "map", "").await;
    assert_eq!(ended(&admin, run).await.0, 200);
    let calls = admin.calls();
    let bodies: Vec<_> = calls.iter().filter(|call| call.path == "/api/map").map(|call| call.body.len()).collect();
    assert!(bodies.len() == 5 && bodies.iter().all(|bytes| *bytes <= MAX_PAGE_BYTES), "{bodies:?}");
    assert_eq!(map_pages(&calls).iter().map(|page| page.items.len()).sum::<usize>(), 300);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_map_share_pages_and_a_failed_run_hands_in_no_rest() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let map = async |ctx: MapContext| {
        for call in 0..1_200 {
            ctx.map([format!("call {call}")]).await?;
        }
        if ctx.params() == "fail" { Err(JobError::new("no more images")) } else { Ok(()) }
    };
    let worker = worker_with(&admin, &data, map).await;
    let run = start(&admin, &worker, "map", "").await;
    assert_eq!(ended(&admin, run).await.0, 200);
    assert_eq!(lengths(&map_pages(&admin.calls())), [(0, 1000), (1, 200)]);

    let run = start(&admin, &worker, "map", "fail").await;
    assert_eq!(ended(&admin, run).await, (500, "no more images".to_owned()));
    assert_eq!(lengths(&map_pages(&admin.calls()))[2..], [(0, 1000)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_without_a_clear_answer_is_sent_again_unchanged() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = map_worker(&admin, &data).await;
    let is_page = |call: &&Call| call.path == "/api/map";
    for (tries, reply) in [(1, Reply::Cut), (2, Reply::Status(502)), (3, Reply::refused("The access token is wrong."))]
    {
        admin.reply_to("/api/map", reply);
        if tries == 1 {
            start(&admin, &worker, "numbers", "1001").await;
        }
        admin.wait_for("another try", |calls| calls.iter().filter(is_page).count() >= tries).await;
    }
    admin.reply_to("/api/map", Reply::Accept);
    assert_eq!(ended(&admin, 1).await, (200, "1001 numbers".to_owned()));
    let pages = map_pages(&admin.calls());
    let (last, before) = pages.split_last().unwrap();
    assert_eq!((last.page, last.items.len()), (1, 1));
    assert!(before.len() >= 4 && before.iter().all(|page| *page == before[0]), "{:?}", lengths(&pages));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_request_was_dropped_does_not_change() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    admin.reply_to("/api/map", Reply::Never);
    let requested = Arc::new(Notify::new());
    let map = {
        let requested = Arc::clone(&requested);
        move |ctx: MapContext| {
            let requested = Arc::clone(&requested);
            async move {
                ctx.map((0..1_000).map(|number| number.to_string())).await?;
                tokio::select! {
                    mapped = ctx.map(["dropped"]) => mapped?,
                    () = requested.notified() => {}
                }
                ctx.map(["last"]).await
            }
        }
    };
    let worker = worker_with(&admin, &data, map).await;
    let run = start(&admin, &worker, "map", "").await;
    admin.wait_for("the first page", |calls| !map_pages(calls).is_empty()).await;
    admin.reply_to("/api/map", Reply::Accept);
    requested.notify_one();
    assert_eq!(ended(&admin, run).await.0, 200);
    let pages = map_pages(&admin.calls());
    assert_eq!(lengths(&pages), [(0, 1000), (0, 1000), (1, 1)], "the page is sent again as it was");
    assert_eq!((&pages[0], pages[2].items.as_slice()), (&pages[1], ["last".to_owned()].as_slice()));
}
