//! *Backfill*.

use carillon_scheduler::{Cause, RunState, ScheduleDraft};

use super::super::run;
use super::Scene;

#[test]
fn a_backfill_makes_the_runs_of_the_instants_that_its_dry_run_shows() {
    run(async {
        let scene = Scene::start().await;
        let daily = ScheduleDraft::cron("0 0 2 * * ?", "UTC");
        let job = scene.job("Close", "echo", |draft| draft.schedule = daily).await;
        let _executor = scene.live.executor("orders").await;
        scene.browser.go(&format!("/jobs/{}/backfill?from=2025-11-20T00:00:00Z&to=2025-11-25T00:00:00Z", job.id)).await;
        scene.browser.press("[data-testid=backfill-form] button[value=dry]").await;
        let promised = scene.browser.text("[data-testid=dry-run] strong").await;
        assert_eq!(promised, "5 instants");
        let shown = scene.texts("[data-testid=dry-run] li").await;
        assert_eq!(scene.runs(job.id).await, [], "a dry run makes none");
        scene.browser.press("[data-testid=backfill-form] button[value=start]").await;
        let said = scene.browser.text("[data-testid=flash]").await;
        assert_eq!(said, "The backfill is started: 5 instants.");

        let are_over = async || {
            let runs = scene.runs(job.id).await;
            runs.len() == 5 && runs.iter().all(|run| run.state == RunState::Succeeded)
        };
        scene.browser.until("five runs", are_over).await;
        let mut instants: Vec<i64> = scene.runs(job.id).await.iter().map(|run| run.scheduled_at).collect();
        instants.sort_unstable();
        let text = |at: &i64| {
            chrono::DateTime::from_timestamp_millis(*at).unwrap().format("%Y-%m-%d %H:%M:%S UTC").to_string()
        };
        assert_eq!(instants.iter().map(text).collect::<Vec<_>>(), shown);
        assert!(scene.runs(job.id).await.iter().all(|run| run.cause == Cause::Backfill));

        scene.browser.find("[data-testid=backfills] tr[data-state=backfill-ended]").await;
        let row = scene.browser.text("[data-testid=backfills] tbody tr").await;
        assert!(row.contains("5 of 5 succeeded") && row.contains("by admin"), "{row}");
        // One of them turns out to have failed.
        let first = scene.runs(job.id).await[0].id;
        scene.live.write(&format!("UPDATE run SET state = 10 WHERE id = {first}")).await;
        scene.browser.go(&format!("/jobs/{}/backfill", job.id)).await;
        assert_eq!(scene.browser.text("[data-testid=results]").await, "4 of 5 succeeded, 1 failed");

        scene.browser.go(&format!("/runs?job={}&cause=backfill", job.id)).await;
        let listed = scene.texts("[data-cell=cause] time").await;
        assert_eq!(listed.len(), 5, "each row says for which instant it is");
        scene.close().await;
    });
}
