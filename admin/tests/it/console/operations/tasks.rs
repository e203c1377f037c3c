//! The tasks of a node: the loops of the scheduler by name, with the last round of each.

use carillon_engine::runtime::Service as _;
use carillon_engine::runtime::run as run_service;
use carillon_scheduler::ScheduleDraft;
use carillon_testkit::wait_for;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::client::Console;
use super::run;

/// The row of a task; empty if there is none.
fn row<'a>(page: &'a str, key: &str) -> &'a str {
    let row = page.split(&format!("<tr data-key=\"{key}\">")).nth(1).unwrap_or_default();
    row.split("</tr>").next().unwrap_or_default()
}

// covers: 003-1
#[test]
fn the_two_loops_are_on_the_page_of_the_nodes_by_name() {
    run(async {
        let console = Console::with(|config| config.shards = Some(2)).await;
        let admin = console.admin().await;
        console.job(|job| job.schedule = ScheduleDraft::fixed_rate(1)).await;
        assert!(!admin.get("/nodes").await.body.contains("data-testid=\"tasks\""), "no task runs yet");

        let (tasks, stop, fatal) = (TaskTracker::new(), CancellationToken::new(), CancellationToken::new());
        let services = &console.engine.services;
        services.coordinator.step().await;
        services.run_scanners(&tasks, &stop, &fatal);
        run_service(&services.dispatcher, &console.engine.cx.tasks, &tasks, &stop, &fatal);
        let page = async || admin.get("/nodes").await.body;
        wait_for("a scan has recorded fires", async || page().await.contains(" recorded")).await;
        wait_for("the dispatch loop has had a round", async || row(&page().await, "dispatch").contains("<time")).await;
        let page = page().await;
        for (key, name) in
            [("scan 0", "Scan loop of shard 0"), ("scan 1", "Scan loop of shard 1"), ("dispatch", "Dispatch loop")]
        {
            let row = row(&page, key);
            assert!(row.contains(name) && row.contains("data-label=\"Lag\"") && row.contains(" round"), "{key}: {row}");
        }
        let admin = admin.with("accept-language", "zh-CN,zh;q=0.9");
        let page = admin.get("/nodes").await.body;
        assert!(page.contains("分发循环") && page.contains("分片 1 的扫描循环"), "{page}");

        stop.cancel();
        tasks.close();
        tasks.wait().await;
        assert!(!admin.get("/nodes").await.body.contains("data-testid=\"tasks\""), "they have ended");
    });
}
