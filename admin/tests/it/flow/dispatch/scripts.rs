//! Script jobs: what is sent, and to whom.

use std::sync::Arc;

use carillon_scheduler::{JobDraft, ManualClock, RunState, ScriptDraft, ScriptKind};
use carillon_store::Job;
use carillon_testkit::RecordingExecutor;

use crate::conformance::fixture::actor;
use crate::flow::dispatch::routes::{announce, fires};
use crate::flow::node::{Node, START};
use crate::services::{Kind, on};

fn scripts(is_on: bool, test: impl AsyncFnOnce(&Node)) {
    on(Kind::Sqlite, async |db| {
        let mut config = db.config();
        config.engine.scripts = is_on;
        test(&Node::on(config, Arc::new(ManualClock::new(START))).await).await;
    });
}

async fn script_job(node: &Node, kind: ScriptKind, source: &str) -> Job {
    let script = ScriptDraft::new(kind, source, "first version");
    node.job(|draft| (draft.handler, draft.script, draft.params) = (String::new(), Some(script), "p".into())).await
}

async fn last_message(node: &Node, job: &Job) -> (RunState, String) {
    let run = node.runs(job).await.pop().unwrap();
    (run.state, run.message().to_owned())
}

// covers: S26
#[test]
fn a_script_is_sent_with_its_source_and_version_to_an_executor_that_runs_its_type() {
    scripts(true, async |node| {
        let executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
        announce(node, &executors[0], &[("Carillon-Capabilities", "idem,batch,script:shell")]).await;
        announce(node, &executors[1], &[("Carillon-Capabilities", "idem,batch,script:python")]).await;
        let job = script_job(node, ScriptKind::Python, "print('ä')\n").await;
        fires(node, &job, 2).await;
        assert_eq!(executors.each_ref().map(|it| it.runs().len()), [0, 2], "each alone, not in a batch");
        let version = job.draft.script.as_ref().unwrap().version.unwrap();
        let body = executors[1].runs()[0].json();
        assert_eq!(body["glueType"], "GLUE_PYTHON");
        assert_eq!((&body["glueSource"], &body["executorHandler"]), (&"print('ä')\n".into(), &"".into()));
        assert_eq!((body["glueUpdatetime"].as_i64(), &body["executorParams"]), (Some(version), &"p".into()));
        assert_eq!(body.as_object().unwrap().len(), 12, "{body}");
        // The version that is current when the run is sent.
        let next = ScriptDraft::new(ScriptKind::Python, "print(2)", "second version");
        let job = node.edit(&job, JobDraft { script: Some(next), ..job.draft.clone() }).await;
        fires(node, &job, 1).await;
        let body = executors[1].runs()[2].json();
        assert_eq!(body["glueSource"], "print(2)");
        assert!(body["glueUpdatetime"].as_i64().unwrap() > version);
    });
}

// covers: S26
#[test]
fn without_an_executor_that_runs_its_type_a_script_fails_unsent_until_the_app_is_marked() {
    scripts(true, async |node| {
        let (java, own) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        node.register(&java).await;
        announce(node, &own, &[("Carillon-Capabilities", "idem")]).await;
        let job = script_job(node, ScriptKind::Shell, "echo 1").await;
        fires(node, &job, 1).await;
        node.advance(1_001).await;
        let sentence = "no executor of app orders runs shell scripts; start a worker there (carillon worker), or mark the app if its \
                        executors in Java may run scripts";
        assert_eq!(last_message(node, &job).await, (RunState::Failed, sentence.to_owned()));
        node.engine.apps().set_runs_scripts(node.app.id, true, &actor()).await.unwrap();
        fires(node, &job, 2).await;
        assert_eq!((java.runs().len(), own.runs().len()), (2, 0), "an SDK executor says itself what it runs");
        assert_eq!(java.runs()[0].json()["glueType"], "GLUE_SHELL");
    });
}

// covers: S26
#[test]
fn where_scripts_are_switched_off_a_stored_script_fails_before_it_is_sent() {
    scripts(false, async |node| {
        let executor = RecordingExecutor::start().await;
        announce(node, &executor, &[("Carillon-Capabilities", "idem,script:shell")]).await;
        let job = script_job(node, ScriptKind::Shell, "echo 1").await;
        fires(node, &job, 1).await;
        let sentence = "script jobs are switched off on this server (--scripts), so the run was not sent";
        assert_eq!(last_message(node, &job).await, (RunState::Failed, sentence.to_owned()));
        assert!(executor.runs().is_empty());
    });
}
