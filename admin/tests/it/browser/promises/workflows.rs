//! A workflow whose run has failed goes on.

use carillon_scheduler::RunState;
use carillon_scheduler::workflow::WorkflowDraft;
use carillon_store::Actor;
use serde_json::json;

use super::super::run;
use super::Scene;

#[test]
fn a_person_runs_again_what_failed_and_sees_the_run_go_on() {
    run(async {
        let scene = Scene::start().await;
        let extract = scene.job("Extract", "echo", |draft| draft.params = "7 rows".into()).await;
        let load = scene.job("Load", "fails", |_| ()).await;
        let report = scene.job("Report", "echo", |_| ()).await;
        let nodes = json!({
            "extract": {"job": extract.id}, "load": {"job": load.id, "after": ["extract"]},
            "report": {"job": report.id, "after": ["load"]}
        });
        let workflow: WorkflowDraft = serde_json::from_value(json!({"nodes": nodes})).unwrap();
        let day = scene.job("Close the day", "", |draft| draft.workflow = Some(workflow)).await;
        let _executor = scene.live.executor("orders").await;
        let failed = scene.ended_run(day.id, None).await;
        assert_eq!(failed.state, RunState::Failed);
        let mut draft = load.draft.clone();
        draft.handler = "echo".into();
        let by = Actor::new("test", "", carillon_store::Grants::for_all(carillon_store::Role::Admin));
        scene.live.engine.jobs().update(load.id, &draft, None, &by).await.unwrap();

        scene.browser.go(&format!("/runs/{}", failed.id)).await;
        assert!(scene.browser.text("tr[data-key=load]").await.contains("failed"));
        scene.browser.press("#run .actions .button.primary").await;
        let promise = scene.browser.text("[data-testid=again]").await;
        assert_eq!(promise, "Again: load, report. Kept: extract.");
        scene.browser.press("[data-testid=workflow-rerun] .form-end button").await;
        scene.browser.find(&format!("[data-testid=prior-run] a[href$='/runs/{}']", failed.id)).await;
        scene.browser.find("#run[data-state=succeeded]").await;
        scene.browser.find("tr[data-key=report][data-state=succeeded]").await;
        assert_eq!(scene.runs(extract.id).await.len(), 1, "what had succeeded is not repeated");
        let result = scene.runs(report.id).await.pop().unwrap();
        assert_eq!(result.result_msg.as_deref(), Some("7 rows"), "it has the result of the run before");
        scene.close().await;
    });
}
