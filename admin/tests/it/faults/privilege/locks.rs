//! A user of Redis that may do what a lock needs, with Carillon's keys.

use std::time::Duration;

use carillon_accounts::secret::random_secret;
use carillon_testkit::wait_for;
use reqwest::Method;
use serde_json::json;

use super::documented;
use crate::faults::load::{Load, every_second};
use crate::locks::servers::{RedisServer, cluster};
use crate::locks::{config, granted_at_last, keeps_nodes_apart, node, tell_each_other};
use crate::program::settings;
use crate::services::{Kind, on, runtime};

const SINGLE: &[&str] = &["# Redis"];
const CLUSTER: &[&str] = &["# Redis", "# Redis Cluster, in addition"];

/// Makes the user of the document; answers its URL without the scheme.
fn limited(servers: &[RedisServer], headings: &[&str]) -> String {
    let secret = random_secret();
    let lines: Vec<&str> = headings.iter().flat_map(|heading| documented(heading)).collect();
    for server in servers {
        for line in &lines {
            let words: Vec<String> =
                line.split(' ').map(|word| word.replace(">PASSWORD", &format!(">{secret}"))).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            assert_eq!(server.cli(&words).trim(), "OK", "{line}");
        }
        let login = ["--no-auth-warning", "--user", "carillon_node", "--pass", &secret];
        for denied in [
            &["set", "other", "1"][..],
            &["get", "other"],
            &["keys", "*"],
            &["flushall"],
            &["config", "get", "*"],
            &["eval", "return redis.call('SET', 'other', '1')", "0"],
            &["subscribe", "other"],
            &["publish", "other", "1"],
            &["psubscribe", "*"],
            &["acl", "list"],
        ] {
            let answer = server.cli(&[&login, denied].concat());
            let is_denied = ["NOPERM", "can't access"].iter().any(|word| answer.contains(word));
            assert!(is_denied, "{denied:?}: {answer}");
        }
    }
    format!("carillon_node:{secret}@127.0.0.1:{}", servers[0].port)
}

// covers: S39
#[test]
fn a_user_of_redis_with_the_rights_of_a_lock_is_enough() {
    on(Kind::Postgres, async |db| {
        let servers = [RedisServer::start(&[])];
        let url = format!("redis://{}/", limited(&servers, SINGLE));
        let redis = &servers[0];
        keeps_nodes_apart(&config(&url)).await;
        tell_each_other(&config(&url)).await;
        let database = format!("--database-url={}", db.url().unwrap());
        let mut setup = settings(db.folder()).env("CARILLON_REDIS_URL", &url).arg(database);
        let node = setup.start().await;
        let load = Load::start(&setup, &[&node], 1, vec![every_second(&json!({})); 5]).await;
        load.until_received(10).await;
        let keys = redis.cli(&["keys", "carillon:*"]);
        assert_eq!(keys.lines().filter(|key| !key.contains("of-this-test")).count(), 8, "its locks: {keys}");
        let is_degraded = async || {
            let page = load.api.send(load.api.at(Method::GET, "readyz")).await.json;
            page.as_str().unwrap().contains("degraded")
        };
        assert!(!is_degraded().await);
        // Its rights are taken away, and given back.
        assert_eq!(redis.cli(&["acl", "setuser", "carillon_node", "-@all"]).trim(), "OK");
        wait_for("the node says that it is degraded", is_degraded).await;
        let before = load.received();
        load.until_received(before + 10).await;
        for line in documented("# Redis") {
            let words: Vec<&str> = line.split(' ').filter(|word| !word.starts_with('>')).collect();
            assert_eq!(redis.cli(&words).trim(), "OK");
        }
        wait_for("it heals", async || !is_degraded().await).await;
        assert_eq!(node.terminate(Duration::from_secs(15)).await.code(), Some(0));
    });
}

#[test]
fn a_user_of_a_redis_cluster_needs_no_more() {
    runtime().block_on(async {
        let servers = cluster(carillon_testkit::free_port());
        let config = config(&format!("redis+cluster://{}", limited(&servers, CLUSTER)));
        granted_at_last(&node(&config, "c"), 99).await;
        keeps_nodes_apart(&config).await;
        tell_each_other(&config).await;
    });
}
