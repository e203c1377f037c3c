//! *Pause* and *End*.

use carillon_scheduler::{Cause, RetryDelay, RunState, ScheduleDraft};
use carillon_store::RunView;

use super::super::run;
use super::{Scene, count_of};

fn of(runs: &[RunView], cause: Cause, state: RunState) -> Vec<RunView> {
    runs.iter().filter(|run| run.cause == cause && run.state == state).cloned().collect()
}

#[test]
fn the_pause_of_a_job_cancels_what_its_schedule_has_waiting_and_leaves_it_to_be_run_by_hand() {
    run(async {
        let scene = Scene::start().await;
        let _executor = scene.live.executor("orders").await;
        let soon = scene.live.clock.now() + 1_000;
        let job = scene
            .job("Sync", "fails", |draft| {
                draft.schedule = ScheduleDraft::once(soon);
                (draft.retries, draft.retry_delay) = (1, RetryDelay::Fixed { seconds: vec![3_600] });
            })
            .await;
        assert_eq!(scene.ended_run(job.id, None).await.state, RunState::Failed);
        let waits = async |cause| of(&scene.runs(job.id).await, cause, RunState::Claimed).len() == 1;
        let both_wait = async || waits(Cause::Schedule).await && waits(Cause::Api).await;
        scene.browser.until("a retry of each", async || scene.runs(job.id).await.len() == 4 && both_wait().await).await;
        scene.browser.go(&format!("/jobs/{}/pause", job.id)).await;
        let promised = scene.browser.text("[data-testid=pause-form] .hint").await;
        for sentence in [
            "The schedule stops.",
            "Its runs that are not sent yet, retries too, are cancelled",
            "runs that were asked for continue",
            "The job can still be run by hand.",
        ] {
            assert!(promised.contains(sentence), "{promised}");
        }
        scene.browser.fill("#note", "release 7").await;
        scene.browser.press("[data-testid=pause-form] button").await;
        scene.browser.find("#job[data-state=paused]").await;

        let after = scene.stored(job.id).await;
        let pause = after.pause.clone().unwrap();
        assert!(!after.draft.enabled && after.next_fire_at.is_none(), "{after:?}");
        assert_eq!((pause.note.as_str(), pause.author.as_str(), pause.ends_at), ("release 7", "admin", None));
        let runs = scene.runs(job.id).await;
        assert_eq!(of(&runs, Cause::Schedule, RunState::Cancelled).len(), 1);
        assert_eq!(of(&runs, Cause::Api, RunState::Claimed).len(), 1, "it was asked for");
        scene.browser.go(&format!("/jobs/{}/run", job.id)).await;
        scene.browser.press("[data-testid=run-form] button").await;
        scene.browser.find("#run[data-state=failed]").await;
        assert_eq!(of(&scene.runs(job.id).await, Cause::Manual, RunState::Failed).len(), 1);
        scene.close().await;
    });
}

#[test]
fn the_pause_of_an_app_cancels_its_fires_with_the_note_and_its_end_lets_them_go() {
    run(async {
        let scene = Scene::start().await;
        let _executor = scene.live.executor("orders").await;
        scene.browser.go("/pauses").await;
        let promised = scene.browser.text("main").await;
        for sentence in [
            "no fire of a schedule is sent: its run is cancelled, with the note",
            "Runs started by hand or through the API are sent",
        ] {
            assert!(promised.contains(sentence), "{promised}");
        }
        let app = scene.live.store.apps().by_name("orders").await.unwrap().unwrap().id;
        scene.browser.script(&format!("document.querySelector('#app').value = '{app}'")).await;
        scene.browser.fill("#note", "database work").await;
        scene.browser.press("[data-testid=pause-form] button").await;
        scene.browser.find("[data-testid=pauses] tbody tr").await;
        let job = scene.job("Tick", "echo", |draft| draft.schedule = ScheduleDraft::fixed_rate(1)).await;
        let are_cancelled = async || count_of(&scene.runs(job.id).await, RunState::Cancelled) > 0;
        scene.browser.until("a cancelled fire", are_cancelled).await;
        let runs = scene.runs(job.id).await;
        assert!(of(&runs, Cause::Schedule, RunState::Succeeded).is_empty(), "{runs:?}");
        let cancelled = of(&runs, Cause::Schedule, RunState::Cancelled).remove(0);
        assert!(cancelled.message().contains("database work"), "{}", cancelled.message());
        assert_eq!(scene.ended_run(job.id, None).await.state, RunState::Succeeded, "asked for through the API");

        scene.browser.go("/pauses").await;
        scene.browser.press("[data-testid=pauses] tbody button").await;
        assert_eq!(scene.browser.text("[data-testid=flash]").await, "The pause is ended.");
        let page = scene.browser.text("body").await;
        assert!(page.contains("Nothing is paused") && !page.contains("database work"), "{page}");
        assert_eq!(scene.live.store.apps().pauses_from(scene.live.clock.now()).await.unwrap(), []);
        let go_again = async || !of(&scene.runs(job.id).await, Cause::Schedule, RunState::Succeeded).is_empty();
        scene.browser.until("a fire after the end", go_again).await;
        scene.close().await;
    });
}
