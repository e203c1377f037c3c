//! Jobs that a program declares: by the attribute, and with the builder.

use std::time::Duration;

use carillon_executor::{
    Declaration, DeclarePolicy, Executor, ExecutorBuilder, JobContext, JobError, Json, Workflow, job, log, testing,
};
use carillon_testkit::{Reply, StubAdmin};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::worker::new_token;

const APP: &str = "declared-app";

#[derive(Deserialize, Serialize)]
struct Day {
    #[serde(default)]
    year: u32,
}

#[derive(Deserialize)]
struct Region {
    region: String,
}

#[job(app = "declared-app", name = "import", cron = "0 30 1 * * ?", timezone = "Europe/Berlin", retries = 2)]
async fn import_orders() -> Result<(), JobError> {
    Ok(())
}

#[job(app = "declared-app", after = "import", timeout = "5m", was = "close")]
async fn close_day(ctx: &JobContext, day: Day) -> Result<Json<Day>, JobError> {
    log!(ctx, "closing a day of {}", day.year);
    Ok(Json(Day { year: day.year + 1 }))
}

#[job(app = "declared-app", name = "export", parts = ["eu", "us"], tags = ["nightly"], retry_delay = ["10s", "1m"])]
async fn export(params: &Region, ctx: JobContext) -> Result<String, std::num::ParseIntError> {
    Ok(format!("{} of {}", params.region, ctx.handler()))
}

#[job(app = "another-app", every = "10s")]
async fn of_another_app() -> Result<(), JobError> {
    Ok(())
}

fn builder(data: &TempDir) -> ExecutorBuilder {
    Executor::builder().admin("http://127.0.0.1:1").app(APP).token(new_token()).data_dir(data.path())
}

/// The text of the error without the places.
fn refused(builder: ExecutorBuilder) -> String {
    builder.build().err().map(|error| error.to_string()).unwrap_or_default()
}

fn members(executor: &Executor, key: &str) -> Value {
    executor.declared().iter().find(|job| job.key == key).unwrap().members.clone().into()
}

// covers: 002-6, 004-2
#[test]
fn the_jobs_of_the_app_are_declared_with_the_members_that_the_code_names() {
    let data = TempDir::new().unwrap();
    let executor = builder(&data).build().unwrap();
    let keys: Vec<&str> = executor.declared().iter().map(|job| job.key.as_str()).collect();
    assert_eq!(keys, ["close_day", "export", "import"]);
    let import = json!({
        "handler": "import",
        "schedule": {"kind": "cron", "expression": "0 30 1 * * ?", "timezone": "Europe/Berlin"},
        "retries": 2,
        "children": ["close_day"],
    });
    assert_eq!(members(&executor, "import"), import);
    assert_eq!(members(&executor, "close_day"), json!({"handler": "close_day", "timeout_seconds": 300}));
    let export = json!({
        "handler": "export",
        "parts": ["eu", "us"],
        "tags": ["nightly"],
        "retry_delay": {"kind": "fixed", "seconds": [10, 60]},
    });
    assert_eq!(members(&executor, "export"), export);
    let close = &executor.declared()[0];
    assert_eq!(close.was.as_deref(), Some("close"));
    assert!(close.file.ends_with("tests/it/declared.rs") && close.line > 20, "{close:?}");
}

#[test]
fn the_builder_declares_jobs_and_workflows_too() {
    let data = TempDir::new().unwrap();
    let close = Declaration::new("check").every(Duration::from_secs(60)).misfire("skip").title("Check all");
    let month = Workflow::new(Declaration::new("close-month").cron("0 0 3 1 * ?"))
        .node("import")
        .node_of("second", "check")
        .after(["import"]);
    let builder = builder(&data).job(close, |_: JobContext| async { Ok(()) }).workflow(month);
    let executor = builder.job("plain", |_: JobContext| async { Ok(()) }).build().unwrap();
    let check = json!({
        "handler": "check",
        "name": "Check all",
        "schedule": {"kind": "fixed_rate", "seconds": 60},
        "misfire": "skip",
    });
    assert_eq!(members(&executor, "check"), check);
    let month = json!({
        "schedule": {"kind": "cron", "expression": "0 0 3 1 * ?"},
        "workflow": {"nodes": {"import": {"job": "import"}, "second": {"job": "check", "after": ["import"]}}},
    });
    assert_eq!(members(&executor, "close-month"), month);
    assert_eq!(executor.declared().len(), 5, "the plain handler is not declared");
}

// covers: 004-23
#[test]
fn build_refuses_what_is_wrong_in_the_whole_program() {
    let data = TempDir::new().unwrap();
    let ok = |_: JobContext| async { Ok(()) };
    let declared = |declaration: Declaration| refused(builder(&data).job(declaration, ok));
    let said = declared(Declaration::new("import"));
    assert!(
        said.starts_with("job: \"import\" is declared twice: ") && said.matches("declared.rs:").count() == 2,
        "{said}"
    );
    let said = declared(Declaration::new("report").after("inport"));
    assert!(said.ends_with("is after \"inport\", which this program does not declare"), "{said}");
    let ring = builder(&data).job(Declaration::new("a").after("b"), ok).job(Declaration::new("b").after("a"), ok);
    assert_eq!(refused(ring), "job: these jobs start each other in a circle: a → b → a");
    let workflow = Workflow::new(Declaration::new("b").after("a")).node("a");
    let ring = builder(&data).job(Declaration::new("a").after("b"), ok).workflow(workflow);
    assert!(refused(ring).contains("in a circle"));
    assert_eq!(refused(builder(&data).job("import", ok)), "job: \"import\" is registered twice");
    for (declaration, problem) in [
        (Declaration::new("x").cron("0 0 25 * * ?"), "expression: hour field: 25 is not allowed"),
        (Declaration::new("x").cron("0 0 9 * * ?").every(Duration::from_secs(1)), "the job has two schedules"),
        (Declaration::new("x").timezone("UTC"), "timezone without a schedule"),
        (
            Declaration::new("x").every(Duration::from_millis(1500)),
            "a period of milliseconds needs the durability `best_effort`",
        ),
        (Declaration::new("x").every(Duration::from_secs(5)).timezone("UTC"), "timezone and clock_changes need cron"),
        (Declaration::new("X"), "the key 'X' is not allowed"),
        (Declaration::new("x").route("fastest"), "route: `fastest` is not allowed; allowed: round_robin"),
    ] {
        let said = declared(declaration);
        assert!(said.contains(problem) && said.contains("declared.rs:"), "{said}");
    }
}

#[tokio::test]
async fn a_declared_function_gets_its_parameters_and_its_result_is_reported() {
    let (admin, data, token) = (StubAdmin::start().await, TempDir::new().unwrap(), new_token());
    let builder = Executor::builder().admin(&admin.address).app(APP).token(&token).data_dir(data.path());
    let executor = builder.build().unwrap();
    let (address, (stop, stopped)) = (executor.handle().address().to_owned(), oneshot::channel::<()>());
    let running = tokio::spawn(executor.run(async { stopped.await.unwrap_or_default() }));
    let run = async |handler: &str, params: &str| {
        let id = admin.run(&address, &token, handler, params).await;
        let result = admin.result(id).await;
        (result.code, result.message.unwrap_or_default())
    };
    assert_eq!(run("close_day", r#"{"year": 2026}"#).await, (200, r#"{"year":2027}"#.to_owned()));
    assert_eq!(run("close_day", "").await, (200, r#"{"year":1}"#.to_owned()), "without parameters");
    assert_eq!(run("close", "").await.0, 200, "under the name that it had before");
    assert_eq!(run("export", r#"{"region": "eu"}"#).await, (200, "eu of export".to_owned()));
    let (code, said) = run("export", "").await;
    assert_eq!(code, 500);
    assert_eq!(said, "the parameters are not those that \"export\" takes: missing field `region` at line 1 column 2");
    drop(stop);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_heartbeat_announces_the_digest_and_the_jobs_are_sent_when_an_admin_asks() {
    let (admin, data, token) = (StubAdmin::start().await, TempDir::new().unwrap(), new_token());
    admin.reply_to("/api/registry", Reply::Body(json!({"code": 200, "content": "declare"}).to_string()));
    let builder = Executor::builder().admin(&admin.address).app(APP).token(&token).data_dir(data.path());
    let executor = builder.version("4.2.1").declare_policy(DeclarePolicy::Enforce).build().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(executor.run(async { stopped.await.unwrap_or_default() }));
    let calls = admin.wait_for("the declaration", |calls| calls.iter().any(|call| call.path == "/api/declare")).await;
    let find = |path: &str| calls.iter().find(|call| call.path == path).unwrap();
    let (heartbeat, declaration) = (find("/api/registry"), find("/api/declare"));
    let digest: String = Sha256::digest(&declaration.body).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(heartbeat.header("Carillon-Declared"), Some(digest.as_str()));
    assert_eq!(declaration.header("XXL-JOB-APPNAME"), Some(APP));
    let body = declaration.json();
    assert_eq!((&body["build"], &body["policy"]), (&json!("4.2.1"), &json!("enforce")));
    assert_eq!(body["jobs"][0]["was"], "close");
    assert_eq!(body["jobs"].as_array().unwrap().len(), 3);
    drop(stop);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn without_declared_jobs_a_heartbeat_is_as_before() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let builder = Executor::builder().admin(&admin.address).app("plain").token(new_token()).data_dir(data.path());
    let executor = builder.job("plain", |_: JobContext| async { Ok(()) }).build().unwrap();
    let running = tokio::spawn(executor.run(std::future::pending()));
    let calls = admin.wait_for("a heartbeat", |calls| !calls.is_empty()).await;
    assert_eq!((calls[0].path.as_str(), calls[0].header("Carillon-Declared")), ("/api/registry", None));
    running.abort();
}

#[test]
fn the_number_of_functions_can_be_pinned() {
    testing::declared!(4);
    let panic = std::panic::catch_unwind(|| testing::declared!(5)).unwrap_err();
    let said = panic.downcast_ref::<String>().unwrap();
    assert!(
        said.starts_with("4 jobs are declared, not 5: close_day (") && said.contains("use the_crate as _;"),
        "{said}"
    );
}

#[tokio::test]
async fn the_function_can_still_be_called() {
    let ctx = JobContext::builder().build();
    assert_eq!(close_day(&ctx, Day { year: 1 }).await.unwrap().0.year, 2);
    assert!(import_orders().await.is_ok() && of_another_app().await.is_ok());
}
