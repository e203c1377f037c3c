//! Demands 1, 2, 3, 10 and 11: how executors register, and where they are called then.

use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{RouteStrategy, RunState};
use carillon_store::Actor;

use super::published::{Published, accepted, json_type};
use super::raw::{post, registration, report, token};
use crate::flow::executor_tokens::World;
use crate::flow::node::{Node, on_node, with_executor};
use crate::services::{Kind, on};

async fn registered(node: &Node) -> Vec<String> {
    node.store.apps().executors().await.unwrap().into_iter().map(|executor| executor.address).collect()
}

#[test]
fn each_path_is_served_with_and_without_the_context_path() {
    with_executor(async |node, executor| {
        for prefix in ["", "/xxl-job-admin"] {
            let posted = async |name: &str, body: &str| {
                let path = format!("{prefix}/api/{name}");
                let answer = node.while_completing(post(node, &path, &[&token(node)], body)).await.unwrap();
                assert!(answer.is_success(), "{path}: {}", answer.body);
            };
            posted("registry", &registration(&executor.address)).await;
            node.services.refresher.step().await;
            let job = node.job(|_| ()).await;
            let run = node.fire(&job).await;
            node.round().await;
            posted("callback", &format!(r#"[{{"logId":{run},"logDateTim":1,"handleCode":200}}]"#)).await;
            assert_eq!(node.states(&job).await, [RunState::Succeeded]);
            posted("registryRemove", &registration(&executor.address)).await;
            assert_eq!(registered(node).await, Vec::<String>::new());
        }
    });
}

#[test]
fn a_request_is_read_as_json_whatever_its_content_type_is() {
    with_executor(async |node, executor| {
        // xxljob-sdk-rs without a token names none; the second is Java's and Go's.
        for content_type in [
            None,
            Some("Content-Type: application/json;charset=UTF-8"),
            Some("content-type: text/plain"),
            Some("Content-Type: application/x-www-form-urlencoded"),
            Some("Content-Type: no type at all"),
        ] {
            let token = token(node);
            let headers: Vec<&str> = content_type.into_iter().chain([token.as_str()]).collect();
            let answer = post(node, "/api/registry", &headers, &registration(&executor.address)).await.unwrap();
            assert!(answer.is_success(), "{content_type:?}: {}", answer.body);
            assert_eq!(registered(node).await, std::slice::from_ref(&executor.address));
            node.services.refresher.step().await;
            let job = node.job(|_| ()).await;
            let run = node.fire(&job).await;
            node.round().await;
            assert!(report(node, &headers, &format!(r#"[{{"logId":{run},"handleCode":200}}]"#)).await.is_success());
            assert_eq!(node.states(&job).await, [RunState::Succeeded], "{content_type:?}");
            let answer = post(node, "/api/registryRemove", &headers, &registration(&executor.address)).await.unwrap();
            assert!(answer.is_success(), "{content_type:?}: {}", answer.body);
        }
    });
}

#[test]
fn the_token_is_found_in_any_case_and_the_header_of_the_app_may_be_missing() {
    on(Kind::Sqlite, async |db| {
        let world = World::start(db).await;
        let (node, body) = (&world.node, registration("http://127.0.0.1:9/"));
        // The token of all apps, and that of one app as the Java snapshot sends it.
        for token in [&node.config.access_token, &world.orders_token] {
            for name in ["XXL-JOB-ACCESS-TOKEN", "xxl-job-access-token", "Xxl-Job-Access-Token"] {
                let header = format!("{name}: {token}");
                let beside = format!("XXL-RPC-ACCESS-TOKEN: {token}");
                for more in [None, Some("XXL-JOB-APPNAME: orders"), Some("xxl-job-appname: orders"), Some(&*beside)] {
                    let headers: Vec<&str> = more.into_iter().chain([header.as_str()]).collect();
                    let answer = post(node, "/api/registry", &headers, &body).await.unwrap();
                    assert!(answer.is_success(), "{headers:?}: {}", answer.body);
                }
            }
        }
        let refused = post(node, "/api/registry", &["XXL-JOB-APPNAME: orders"], &body).await.unwrap();
        assert_eq!(refused.json()["code"], 500, "the name of an app is no token");
    });
}

/// Second by second: a clock that jumps would look like an outage, after which leases count from their start again.
async fn pass(node: &Node, seconds: u64) {
    for _ in 0..seconds {
        node.clock.advance(Duration::from_secs(1));
        node.services.refresher.step().await;
    }
}

#[test]
fn a_registration_that_repeats_is_one_executor_until_90_s_of_silence() {
    with_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let gets_a_run = async || {
            let before = executor.runs().len();
            node.fire(&job).await;
            node.round().await;
            executor.runs().len() > before
        };
        // The time before each heartbeat: of pyxxl and pyxxljob, Go, xxljob-sdk-rs, Java.
        for interval in [10, 10, 20, 20, 29, 29, 30, 30] {
            pass(node, interval).await;
            let answer = post(node, "/api/registry", &[&token(node)], &registration(&executor.address)).await;
            assert!(answer.unwrap().is_success());
            assert_eq!(registered(node).await.len(), 1);
        }
        pass(node, 89).await;
        assert!(gets_a_run().await, "89 s after its last heartbeat");
        pass(node, 2).await;
        assert!(!gets_a_run().await, "91 s after it, though it never deregistered");
    });
}

#[test]
fn an_executor_is_called_below_its_address_with_exactly_one_slash() {
    for (end, prefix) in [("", ""), ("/", ""), ("/prefix", "/prefix"), ("/a/prefix/", "/a/prefix")] {
        on_node(async |node| {
            let executor = Published::always(json_type(&accepted())).await;
            node.register_address(&format!("{}{end}", executor.address), None).await;
            for route in [RouteStrategy::Failover, RouteStrategy::BusyOver] {
                let job = node.job(|draft| draft.route = route).await;
                let run = node.fire(&job).await;
                node.round().await;
                assert_eq!(node.states(&job).await, [RunState::Running]);
                let _ = node.engine.runs().log(run, 1, &Actor::engine()).await;
                node.engine.runs().kill(run, &Actor::engine()).await.unwrap();
            }
            let paths: Vec<String> = executor.requests().into_iter().map(|(path, _)| path).collect();
            let expected = ["beat", "run", "log", "kill", "idleBeat", "run", "log", "kill"];
            assert_eq!(paths, expected.map(|name| format!("{prefix}/{name}")), "{end:?}");
        });
    }
}
