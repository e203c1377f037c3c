//! The executor's HTTP interface: requests, refusals, headers; and the settings.

use carillon_executor::{Error, Executor, JobContext};
use carillon_protocol::{BatchRun, MAX_BATCH_RUNS, RunBatch, RunRequest, headers};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::worker::{DUE_AT, Worker, new_token, run};
use carillon_testkit::StubAdmin;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_goes_from_request_to_callback() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let mut request = run(7, "echo");
    request.params = "42 rows".into();
    let answer = worker.run(&request).await;
    let ok = json!({"code": 200, "msg": null, "content": null, "data": null});
    assert_eq!(answer.body, ok);
    assert_eq!(answer.boot_id.as_deref(), Some(worker.handle.boot_id()));

    let item = admin.result(7).await;
    assert_eq!((item.code, item.message.as_deref()), (200, Some("42 rows")));
    assert_eq!(item.log_date_time, DUE_AT);
    assert!(answer.received_at.is_some_and(|at| at > 0), "{:?}", answer.received_at);
    assert_eq!(Some(item.received_at), answer.received_at, "once more with the result, which may overtake the answer");

    let calls = admin.calls();
    let registry = &calls[0];
    assert_eq!(registry.path, "/api/registry");
    let address = worker.handle.address();
    assert!(address.ends_with('/'), "as Java: {address}");
    assert_eq!(
        registry.body,
        format!(r#"{{"registryGroup":"EXECUTOR","registryKey":"tests","registryValue":"{address}"}}"#)
    );
    for call in &calls {
        for (name, value) in [
            (headers::TOKEN, worker.token.as_str()),
            (headers::APP, "tests"),
            (headers::BOOT_ID, worker.handle.boot_id()),
            (headers::CAPABILITIES, "idem,batch,loop"),
            ("content-type", "application/json"),
        ] {
            assert_eq!(call.header(name).unwrap(), value, "{}", call.path);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_without_the_token_are_refused() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let mut worker = Worker::start(&admin, &data).await;
    for wrong in [String::new(), new_token(), worker.token[1..].to_owned()] {
        worker.token = wrong;
        for path in
            ["/run", "/runs", "/trigger", "/beat", "/idleBeat", "/kill", "/log", "/loop", "/loop/stop", "/loop/recent"]
        {
            let body = serde_json::to_value(run(1, "ok")).unwrap();
            let answer = worker.post(path, &body, &[]).await;
            assert_eq!((answer.code(), answer.msg()), (500, "The access token is wrong."));
        }
    }
    let url = format!("{}beat", worker.handle.address());
    let answer = reqwest::Client::new().post(url).send().await.unwrap();
    assert!(answer.text().await.unwrap().contains("The access token is wrong."));
    assert_eq!(admin.results(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handler_gets_the_trace_context_of_its_run() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".to_owned();
    let body = serde_json::to_value(run(1, "trace")).unwrap();
    worker.post("/run", &body, &[(headers::TRACEPARENT, traceparent.clone())]).await;
    assert_eq!(admin.result(1).await.message, Some(traceparent.clone()));
    let item = BatchRun {
        run: run(2, "trace"),
        attempt: 1,
        not_after: i64::MAX,
        traceparent: Some(traceparent.clone()),
        ..BatchRun::default()
    };
    worker.post("/runs", &serde_json::to_value(RunBatch { runs: vec![item] }).unwrap(), &[]).await;
    assert_eq!(admin.result(2).await.message, Some(traceparent));
    worker.run(&run(3, "trace")).await;
    assert_eq!(admin.result(3).await.message.as_deref(), Some("none"));
}

// covers: V1
#[tokio::test(flavor = "multi_thread")]
async fn a_compressed_body_is_refused() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let gzip = [("content-encoding", "gzip".to_owned())];
    for path in ["/run", "/runs", "/trigger", "/beat", "/idleBeat", "/kill", "/log"] {
        let answer = worker.post(path, &json!({}), &gzip).await;
        assert_eq!(answer.code(), 500, "{path}");
        assert!(answer.msg().contains("Content-Encoding"), "{path}: {}", answer.msg());
    }
    let plain = [("content-encoding", "identity".to_owned())];
    assert_eq!(worker.post("/beat", &json!({}), &plain).await.code(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_run_of_a_batch_has_its_own_answer() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    worker.run(&run(1, "ok")).await;
    admin.result(1).await;
    let item = |run: RunRequest| BatchRun { run, attempt: 1, not_after: i64::MAX, ..BatchRun::default() };
    let late = BatchRun { not_after: 1, ..item(run(4, "ok")) };
    let keyed = |log_id: i64, item: BatchRun| BatchRun { fire_key: format!("7:s:{log_id}:0"), ..item };
    let runs = vec![
        keyed(1, item(run(1, "ok"))),
        keyed(2, item(run(2, "echo"))),
        keyed(3, item(run(3, "nope"))),
        keyed(4, late),
    ];
    let batch = serde_json::to_value(RunBatch { runs }).unwrap();
    let answer = worker.post("/runs", &batch, &[]).await;
    let Value::Array(answers) = answer.body["content"].clone() else { panic!("{}", answer.body) };
    assert_eq!(answers[0], json!({"logId": 1, "code": 200, "runState": "finished"}));
    assert!(answers[1]["receivedAt"].is_i64(), "{}", answers[1]);
    assert_eq!((&answers[1]["logId"], &answers[1]["code"]), (&json!(2), &json!(200)));
    assert_eq!(answers[2], json!({"logId": 3, "code": 500, "msg": "job handler [nope] not found."}));
    assert!(answers[3]["msg"].as_str().unwrap().starts_with("expired: "), "{}", answers[3]);
    assert_eq!(admin.result(2).await.code, 200);

    // Sent again, no run starts twice.
    let again = worker.post("/runs", &batch, &[]).await;
    assert_eq!(again.body["content"][1]["runState"], "finished");
    let many = RunBatch { runs: vec![item(run(9, "ok")); MAX_BATCH_RUNS + 1] };
    let many = worker.post("/runs", &serde_json::to_value(many).unwrap(), &[]).await;
    assert_eq!((many.code(), many.msg()), (500, "501 runs in one request; at most 500 are taken"));
    assert!(admin.results().iter().all(|result| result.log_id < 3));
}

// covers: V12.2
#[tokio::test(flavor = "multi_thread")]
async fn the_smallest_instant_is_too_late() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let body = serde_json::to_value(run(1, "ok")).unwrap();
    let late = [(headers::NOT_AFTER, i64::MIN.to_string())];
    let answer = worker.post("/run", &body, &late).await;
    assert!(answer.msg().starts_with("expired: "), "{}", answer.msg());
}

// covers: 004-24, S26
#[tokio::test(flavor = "multi_thread")]
async fn unknown_handlers_and_bad_requests_are_refused_with_the_reason() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let unknown = worker.run(&run(1, "nope")).await;
    assert_eq!((unknown.code(), unknown.msg()), (500, "job handler [nope] not found."));

    let mut shell = run(1, "ok");
    shell.glue_type = "GLUE_SHELL".into();
    assert_eq!(worker.run(&shell).await.msg(), "glueType[GLUE_SHELL] is not valid.");
    assert_eq!(worker.run(&run(0, "ok")).await.msg(), "logId 0 is not a run");

    let no_number = worker.post("/run", &json!({"jobId": "x"}), &[]).await;
    assert!(no_number.msg().contains(r#"jobId: "x" is not a whole number"#), "{}", no_number.msg());
    let long = worker.post("/kill", &json!({"x": "y".repeat(20_000)}), &[]).await;
    assert!(long.msg().contains("body cannot be read"), "{}", long.msg());
    let attempt = [(headers::ATTEMPT, "first".to_owned())];
    let attempt = worker.post("/run", &serde_json::to_value(run(1, "ok")).unwrap(), &attempt).await;
    assert_eq!(attempt.msg(), "Carillon-Attempt is not a whole number");

    let doubled = worker.post("//beat", &json!({}), &[]).await;
    assert_eq!(doubled.code(), 200, "the client joins with one slash");
    let path = worker.post("/stop", &json!({}), &[]).await;
    assert_eq!(path.msg(), "invalid request, uri-mapping(/stop) not found.");
    let get = reqwest::get(format!("{}run", worker.handle.address())).await.unwrap();
    assert!(get.text().await.unwrap().contains("invalid request, HttpMethod not support."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_comes_too_late_is_refused() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let body = serde_json::to_value(run(1, "ok")).unwrap();
    let late = [(headers::NOT_AFTER, DUE_AT.to_string())];
    let answer = worker.post("/run", &body, &late).await;
    assert_eq!(answer.code(), 500);
    assert!(answer.msg().starts_with("expired: "), "{}", answer.msg());
    let in_time = [(headers::NOT_AFTER, "4000000000000".to_owned())];
    assert_eq!(worker.post("/run", &body, &in_time).await.code(), 200);
    admin.result(1).await;
    assert_eq!(worker.post("/run", &body, &late).await.code(), 200, "the run was accepted before");
}

#[test]
fn wrong_settings_are_named() {
    let data = TempDir::new().unwrap();
    let good = || {
        let handler = |_: JobContext| async { Ok(()) };
        Executor::builder()
            .admin("http://127.0.0.1:1")
            .app("tests")
            .token(new_token())
            .data_dir(data.path())
            .job("ok", handler)
    };
    assert!(good().build().is_ok(), "also without a runtime");
    let handler = |_: JobContext| async { Ok(()) };
    for (builder, text) in [
        (Executor::builder(), "admin: none is set; give at least one, as http://host:port"),
        (good().admin("h:1"), r#"admin: "h:1" is not an address like http://host:port"#),
        (good().advertise("10.0.0.1:9999"), r#"advertise: "10.0.0.1:9999" is not an address"#),
        (good().app(" "), "app: must have 1 to 64 characters"),
        (good().token(" "), "token: is empty; set the admin's access token (CARILLON_ACCESS_TOKEN)"),
        (good().token("a\nb"), "token: has characters that no HTTP header may have"),
        (good().workers(0), "workers: 0 is not within 1 and 64"),
        (good().job("ok", handler), r#"job: "ok" is registered twice"#),
        (good().listen("127.0.0.1"), "cannot listen on 127.0.0.1: "),
    ] {
        let error = builder.build().err().unwrap().to_string();
        assert!(error.starts_with(text), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_serves_one_executor() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let worker = Worker::start(&admin, &data).await;
    let handler = |_: JobContext| async { Ok(()) };
    let second = Executor::builder()
        .admin(&admin.address)
        .app("tests")
        .token(&worker.token)
        .data_dir(data.path())
        .job("ok", handler)
        .build();
    let error = second.err().unwrap();
    assert!(matches!(error, Error::DataInUse(_)), "{error}");
    assert!(error.to_string().contains("give each its own data_dir"));
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_announce_weight_and_labels() {
    let (admin, data) = (StubAdmin::start().await, TempDir::new().unwrap());
    let announced =
        |builder: carillon_executor::ExecutorBuilder| builder.weight(3).label("zone", "eu-1").label("gpu", "yes");
    let _worker = Worker::with(&admin, data.path(), &new_token(), announced).await;
    let registry = admin.calls()[0].clone();
    assert_eq!(registry.header("carillon-weight").unwrap(), "3");
    assert_eq!(registry.header("carillon-labels").unwrap(), "zone=eu-1,gpu=yes");
}

#[test]
fn a_wrong_weight_or_label_is_refused_by_name() {
    let data = TempDir::new().unwrap();
    let refused = |change: fn(carillon_executor::ExecutorBuilder) -> carillon_executor::ExecutorBuilder| {
        let builder = Executor::builder()
            .admin("http://127.0.0.1:1")
            .app("tests")
            .token(new_token())
            .data_dir(data.path())
            .job("ok", |_: JobContext| async { Ok(()) });
        match change(builder).build() {
            Err(error) => error.to_string(),
            Ok(_) => panic!("it was accepted"),
        }
    };
    assert!(refused(|b| b.weight(0)).contains("weight: 0 is not within 1 and 100"));
    for error in [
        refused(|b| b.label("a b", "c")),
        refused(|b| b.label("a", "")),
        refused(|b| b.label("a", "b").label("a", "c")),
        refused(|b| (0..17).fold(b, |b, n| b.label(format!("k{n}"), "v"))),
    ] {
        assert!(error.contains("label"), "{error}");
    }
}
