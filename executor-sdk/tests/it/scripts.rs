//! Runs that bring a script: the types that are taken, what the handler sees, and the change of a script.

use carillon_executor::{JobContext, JobError, ScriptType};
use carillon_protocol::{RunRequest, headers};
use tempfile::TempDir;

use crate::worker::{Worker, new_token, run};
use carillon_testkit::StubAdmin;

/// A worker that takes shell and PHP scripts. A script `wait` ends when it is cancelled, each other one returns what it is.
async fn script_worker(admin: &StubAdmin, data: &TempDir) -> Worker {
    let handler = |ctx: JobContext| async move {
        let script = ctx.script().ok_or_else(|| JobError::new("no script"))?;
        if script.source == "wait" {
            ctx.cancelled().await;
            return Err(JobError::new("stopped"));
        }
        Ok(format!("{} {} {} {}", script.kind, script.version, script.source, ctx.params()))
    };
    let with_scripts =
        |builder: carillon_executor::ExecutorBuilder| builder.scripts([ScriptType::Shell, ScriptType::Php], handler);
    Worker::with(admin, data.path(), &new_token(), with_scripts).await
}

fn script(log_id: i64, source: &str, version: i64) -> RunRequest {
    RunRequest {
        glue_type: "GLUE_SHELL".to_owned(),
        glue_source: source.to_owned(),
        glue_updatetime: version,
        params: "p".to_owned(),
        ..run(log_id, "")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn announced_types_are_run_and_others_refused() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = script_worker(&admin, &data).await;
    let calls = admin.calls();
    assert_eq!(calls[0].header(headers::CAPABILITIES), Some("idem,batch,loop,script:shell,script:php"));

    assert_eq!(worker.run(&script(1, "echo", 5)).await.code(), 200);
    let item = admin.result(1).await;
    assert_eq!((item.code, item.message.as_deref()), (200, Some("shell 5 echo p")));

    for other in ["GLUE_PYTHON", "GLUE_GROOVY", "glue_shell"] {
        let request = RunRequest { glue_type: other.to_owned(), ..script(2, "x", 1) };
        assert_eq!(worker.run(&request).await.msg(), format!("glueType[{other}] is not valid."));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_script_replaces_the_runs_of_the_old_one() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = script_worker(&admin, &data).await;
    for id in [1, 2] {
        assert_eq!(worker.run(&script(id, "wait", 5)).await.code(), 200);
    }
    assert_eq!(worker.run(&script(3, "new", 6)).await.code(), 200);
    let reason = "change job source or glue type, and terminate the old job thread.";
    for (id, end) in [(1, ""), (2, " [job not executed, in the job queue, killed.]")] {
        let item = admin.result(id).await;
        assert_eq!(item.code, 500);
        assert!(item.message.as_deref().unwrap().starts_with(&format!("{reason}{end}")), "{item:?}");
    }
    assert_eq!(admin.result(3).await.message.as_deref(), Some("shell 6 new p"));
}
