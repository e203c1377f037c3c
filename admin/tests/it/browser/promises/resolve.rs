//! *Resolve*.

use carillon_scheduler::{AuditObjectKind, Cause, RunState};
use carillon_store::audit::list::AuditFilter;

use super::super::run;
use super::Scene;

#[test]
fn an_answer_becomes_the_result_cancels_the_retry_and_runs_the_children() {
    run(async {
        let scene = Scene::start().await;
        let child = scene.job("Child", "echo", |_| ()).await;
        let parent = scene.job("Parent", "echo", |draft| draft.children = vec![child.id]).await;
        let executor = scene.live.executor("orders").await;
        let ended = scene.ended_run(parent.id, None).await;
        executor.cancel();
        let born = async || scene.runs(child.id).await.len() == 1;
        scene.browser.until("the child of the first run", born).await;
        // Its outcome is lost, and a retry waits: written as the engine would have left them.
        let address = ended.address.clone().unwrap();
        let lost = format!(
            "UPDATE run SET state = 4, finished_at = NULL, result_msg = NULL, result_code = NULL WHERE id = {}",
            ended.id
        );
        scene.live.write(&lost).await;
        scene.live.write(&format!("DELETE FROM run WHERE job_id = {}", child.id)).await;
        scene.browser.go(&format!("/runs/{}/resolve", ended.id)).await;
        let promised = scene.browser.text("[data-testid=resolve-form] .hint").await;
        let sent = format!("The run is lost: it was sent to {address}, and no result has arrived.");
        for sentence in
            [sent.as_str(), "Your answer becomes its result", "the child jobs run", "The audit log keeps your note."]
        {
            assert!(promised.contains(sentence), "{sentence}: {promised}");
        }
        scene.browser.script("document.querySelector('#outcome').value = 'succeeded'").await;
        scene.browser.fill("#note", "the file is there").await;
        scene.browser.press("[data-testid=resolve-form] button").await;
        scene.browser.find("#run[data-state=succeeded]").await;

        assert_eq!(scene.live.store.runs().get(ended.id).await.unwrap().unwrap().state, RunState::Succeeded);
        let (action, detail) = scene.newest_entry(AuditFilter::about(AuditObjectKind::Run, ended.id)).await;
        assert_eq!((action.as_str(), detail["note"].as_str()), ("resolve", Some("the file is there")));
        let children = scene.runs(child.id).await;
        assert_eq!(children.iter().map(|run| (run.cause, run.fire_no)).collect::<Vec<_>>(), [(Cause::Child, ended.id)]);
        scene.close().await;
    });
}
