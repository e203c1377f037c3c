//! Executors that write paths and addresses in their own way, register at the wrong place, or send all that they have at once.

use std::sync::Arc;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{ManualClock, RouteStrategy};
use carillon_testkit::RecordingExecutor;
use serde_json::{Value, json};

use crate::flow::executor_tokens::World;
use crate::flow::node::{Node, START, with_executor};
use crate::services::{Kind, on};

async fn post(node: &Node, path: &str, body: &Value) -> (u16, Value) {
    let call = node.http.post(format!("{}{path}", node.url)).header("XXL-JOB-ACCESS-TOKEN", &node.config.access_token);
    let answer = call.header("Accept-Encoding", "gzip").json(body).send().await.unwrap();
    assert_eq!(answer.headers().get("content-encoding"), None, "{path}");
    (answer.status().as_u16(), answer.json().await.unwrap())
}

fn registration(address: &str) -> Value {
    json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": address})
}

// covers: R072
#[test]
fn r072_doubled_and_trailing_slashes_reach_the_protocol_and_other_paths_get_its_answer() {
    with_executor(async |node, executor| {
        for path in
            ["/xxl-job-admin//api/registry", "//api/registry", "/api/registry/", "/xxl-job-admin/api//registry//"]
        {
            let (status, answer) = post(node, path, &registration(&executor.address)).await;
            assert_eq!((status, &answer["code"]), (200, &json!(200)), "{path}: {answer}");
        }
        node.services.refresher.step().await;
        let job = node.job(|_| ()).await;
        let run = node.fire(&job).await;
        node.round().await;
        let result = json!([{"logId": run, "logDateTim": 1, "handleCode": 200}]);
        let reported = post(node, "/xxl-job-admin/api/callback/", &result);
        assert_eq!(node.while_completing(reported).await.1["code"], 200);
        for path in [
            "/xxl-job-admin/registry",
            "/xxl-job-admin/api/api/registry",
            "/jobs/api/callback",
            "/api/registr",
            "/api/callbacks",
        ] {
            let (status, answer) = post(node, path, &registration(&executor.address)).await;
            let said = answer["msg"].as_str().unwrap();
            assert_eq!((status, &answer["code"]), (200, &json!(500)), "{path}");
            assert!(said.starts_with(path) && said.contains("/api/registry"), "{said}");
        }
    });
}

// covers: R078
#[test]
fn r078_one_executor_in_two_spellings_gets_one_part_of_a_broadcast() {
    with_executor(async |node, executor| {
        let port = executor.address.rsplit(':').next().unwrap();
        for address in
            [executor.address.clone(), format!("{}/", executor.address), format!("HTTP://127.0.0.1:{port}//")]
        {
            node.register_address(&address, None).await;
        }
        assert_eq!(node.store.apps().executors().await.unwrap().len(), 1);
        let job = node.job(|draft| draft.route = RouteStrategy::Broadcast).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(executor.runs()[0].json()["broadcastTotal"], 1);
        let removal = registration(&format!("{}//", executor.address));
        assert_eq!(post(node, "/api/registryRemove", &removal).await.1["code"], 200);
        assert!(node.store.apps().executors().await.unwrap().is_empty());
    });
}

// covers: D5
#[test]
fn an_executor_that_keeps_the_token_of_all_apps_is_named_when_its_app_accepts_its_own_alone() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let node = &world.node;
        let by = crate::conformance::fixture::actor();
        node.engine.app_tokens().set_own_tokens_only(node.app.id, true, &by).await.unwrap();
        let executor = RecordingExecutor::start().await;
        let global = node.config.access_token.clone();
        let refused = world.register("registry", &global, "orders", &executor).await;
        assert_eq!(refused["code"], 500);
        assert!(refused["msg"].as_str().unwrap().contains("not one of the app orders"), "{refused}");
    });
}

// covers: D6, V12.9
#[test]
fn an_executor_at_the_listener_for_people_learns_that_it_is_the_wrong_one() {
    on(Kind::Sqlite, async |db| {
        let mut config = db.config();
        config.executor_listen = Some("127.0.0.1:0".parse().unwrap());
        let node = Node::on(config, Arc::new(ManualClock::new(START))).await;
        let (status, answer) = post(&node, "/xxl-job-admin/api/registry", &registration("http://127.0.0.1:9")).await;
        assert_eq!((status, &answer["code"]), (200, &json!(500)));
        assert_eq!(answer["msg"], "executors register at another address of this server; this one is for people");
    });
}

// covers: R064
#[test]
fn r064b_two_hundred_results_of_fifty_thousand_characters_are_stored() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        let job = node.job(|_| ()).await;
        let mut ids = vec![];
        for _ in 0..200 {
            ids.push(node.fire(&job).await);
        }
        node.round().await;
        let text = "x".repeat(50_000);
        let result = |id: &i64| json!({"logId": id, "logDateTim": 1, "handleCode": 500, "handleMsg": text});
        let all = json!(ids.iter().map(result).collect::<Vec<_>>());
        let (status, answer) = node.while_completing(post(node, "/api/callback", &all)).await;
        assert_eq!((status, &answer["code"]), (200, &json!(200)), "{answer}");
        assert_eq!(node.states(&job).await, [carillon_scheduler::RunState::Failed; 200]);
    });
}
