//! *Run again* and *Run again what failed*.

use carillon_scheduler::RunState;
use carillon_store::Actor;

use super::super::run;
use super::Scene;

/// Three failed runs of a job whose parameters have changed since, and one that has succeeded.
async fn failed(scene: &Scene) -> (i64, Vec<i64>) {
    let job = scene.job("Charge", "fails", |draft| draft.params = "shop 1".into()).await;
    let _executor = scene.live.executor("orders").await;
    let mut runs = vec![];
    for params in [None, None, Some("shop 7")] {
        let ended = scene.ended_run(job.id, params).await;
        assert_eq!(ended.state, RunState::Failed);
        runs.push(ended.id);
    }
    let mut draft = job.draft.clone();
    (draft.params, draft.handler) = ("shop 2".into(), "echo".into());
    scene.live.engine.jobs().update(job.id, &draft, None, &admin()).await.unwrap();
    (job.id, runs)
}

fn admin() -> Actor {
    Actor::new("test", "", carillon_store::Grants::for_all(carillon_store::Role::Admin))
}

// covers: B1
#[test]
fn run_again_uses_the_parameters_that_its_form_shows() {
    run(async {
        let scene = Scene::start().await;
        let (job, runs) = failed(&scene).await;
        scene.browser.go(&format!("/runs/{}", runs[0])).await;
        scene.browser.press("a[href*='/run?like=']").await;
        let promised = scene.value("#params").await;
        assert_eq!(promised, "shop 1");
        let note = scene.browser.text("[data-testid=params-note]").await;
        assert!(note.contains(&format!("The parameters of run {}", runs[0])), "{note}");
        scene.browser.press("[data-testid=run-form] button").await;
        scene.browser.find("#run[data-state=succeeded]").await;
        assert_eq!(scene.browser.text("[data-testid=rerun-of]").await, runs[0].to_string());
        let made = scene.runs(job).await.pop().unwrap();
        let made = scene.live.store.runs().get(made.id).await.unwrap().unwrap();
        assert_eq!((made.rerun_of, made.result_msg.as_deref()), (Some(runs[0]), Some(promised.as_str())));
        scene.close().await;
    });
}

// covers: B1
#[test]
fn run_again_what_failed_runs_as_many_as_it_counts_with_the_parameters_that_each_had() {
    run(async {
        let scene = Scene::start().await;
        let (job, runs) = failed(&scene).await;
        scene.browser.go(&format!("/runs/rerun?job={job}")).await;
        scene.browser.press("[data-testid=rerun-form] button").await;
        let promised = scene.browser.text("[data-testid=selected]").await;
        assert!(promised.contains("All runs that match the filter: 3 now."), "{promised}");
        assert_eq!(scene.texts("[data-testid=jobs] li").await, [format!("Charge (orders #{job}): 3 runs")]);
        let hint = scene.browser.text("[data-testid=bulk-form] .hint").await;
        assert!(hint.contains("with the parameters that the run was given"), "{hint}");
        scene.browser.press("[data-testid=bulk-form] button").await;
        let done = scene.browser.text("[data-testid=flash]").await;
        assert!(done.contains("3 runs"), "{done}");

        let made: Vec<i64> = scene.runs(job).await.iter().map(|run| run.id).filter(|id| !runs.contains(id)).collect();
        let mut pairs = vec![];
        for id in made {
            let rerun = scene.ended(id).await;
            let params = scene.live.store.runs().params_of(&rerun).await.unwrap().text().unwrap().to_owned();
            assert_eq!((rerun.state, rerun.result_msg.as_deref()), (RunState::Succeeded, Some(params.as_str())));
            pairs.push((rerun.rerun_of.unwrap(), params));
        }
        pairs.sort_unstable();
        let had = ["shop 1", "shop 1", "shop 7"].map(str::to_owned);
        assert_eq!(pairs, runs.into_iter().zip(had).collect::<Vec<_>>());

        scene.browser.go(&format!("/runs/rerun?job={job}")).await;
        scene.browser.press("[data-testid=rerun-form] button").await;
        let promised = scene.browser.text("[data-testid=selected]").await;
        assert!(promised.contains(": 0 now."), "nothing twice: {promised}");
        scene.close().await;
    });
}
