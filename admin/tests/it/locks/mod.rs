//! The locks in front of the leases, on real servers: one Redis, with TLS, behind Sentinels, in a Cluster, and none that answers.

pub mod servers;

use std::time::{Duration, Instant};

use carillon_accounts::secret::random_secret;
use carillon_admin::config::Config;
use carillon_admin::server::shard_lock;
use carillon_engine::lease::{LockAnswer, ShardLock};
use carillon_testkit::free_port;
use futures_util::StreamExt as _;

use self::servers::{Authority, RedisServer, authority, cluster};
use crate::services::runtime;

const TTL: Duration = Duration::from_secs(10);

pub fn config(url: &str) -> Config {
    let mut config = Config::new("unused", random_secret());
    config.redis_url = Some(url.to_owned());
    config
}

pub fn node(config: &Config, name: &str) -> ShardLock {
    config.validate().unwrap();
    shard_lock(config, "of-this-test", name).unwrap()
}

/// What every kind of Redis must do.
pub async fn keeps_nodes_apart(config: &Config) {
    let (a, b) = (node(config, "a"), node(config, "b"));
    for shard in 0..20 {
        assert_eq!(a.take(shard, TTL).await, LockAnswer::Granted, "{shard}");
        assert_eq!(b.take(shard, TTL).await, LockAnswer::Taken);
    }
    let all: Vec<i32> = (0..20).collect();
    assert_eq!(a.renew(&all, TTL).await, vec![LockAnswer::Granted; 20]);
    assert_eq!(b.renew(&all, TTL).await, vec![LockAnswer::Taken; 20]);
    // A foreign release changes nothing.
    b.release(&all).await;
    assert_eq!(b.take(3, TTL).await, LockAnswer::Taken);
    assert_eq!(a.take(3, TTL).await, LockAnswer::Granted, "its own again");
    a.release(&[3]).await;
    assert_eq!(b.take(3, TTL).await, LockAnswer::Granted);
    assert!(a.now().await.is_some());
}

/// Whether a hint of one node reaches the other, on every kind of Redis.
pub async fn tell_each_other(config: &Config) {
    let (a, b) = (node(config, "a"), node(config, "b"));
    let mut heard = std::pin::pin!(b.hints().await.expect("a subscription"));
    a.hint(&[3, 4095].into()).await;
    let shards = tokio::time::timeout(Duration::from_secs(10), heard.next()).await.expect("a message");
    assert_eq!(shards, Some(vec![3, 4095]));
}

/// Until it is granted, at most half a minute.
pub async fn granted_at_last(leases: &ShardLock, shard: i32) {
    let until = Instant::now() + Duration::from_secs(30);
    while leases.take(shard, TTL).await != LockAnswer::Granted {
        assert!(Instant::now() < until, "not granted");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn with_tls(authority: &Authority) -> RedisServer {
    let file = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let port = free_port();
    RedisServer::start_at(
        port,
        &[
            "--port",
            "0",
            "--tls-port",
            &port.to_string(),
            "--tls-auth-clients",
            "no",
            "--tls-cert-file",
            &file(&authority.certificate),
            "--tls-key-file",
            &file(&authority.key),
            "--tls-ca-cert-file",
            &file(&authority.ca),
        ],
    )
}

// covers: 003-12, 6.14
#[test]
fn one_redis_keeps_nodes_apart_and_comes_back() {
    runtime().block_on(async {
        let secret = random_secret();
        let server = RedisServer::start(&["--requirepass", &secret]);
        let mut config = config(&format!("redis://:{secret}@127.0.0.1:{}/0", server.port));
        keeps_nodes_apart(&config).await;
        tell_each_other(&config).await;
        let a = node(&config, "a");
        let heard = a.hints().await.expect("a subscription");
        let port = server.kill();
        let none = tokio::time::timeout(Duration::from_secs(10), heard.count()).await;
        assert_eq!(none.ok(), Some(0), "the stream ends with the server");
        assert!(a.hints().await.is_none());
        assert_eq!(a.renew(&[1], TTL).await, [LockAnswer::Unreachable]);
        assert_eq!(a.now().await, None);
        let _server = RedisServer::start_at(port, &["--requirepass", &secret]);
        granted_at_last(&a, 1).await;
        // A wrong password is no lock.
        config.redis_url = Some(format!("redis://:wrong@127.0.0.1:{port}/0"));
        assert_eq!(node(&config, "a").take(2, TTL).await, LockAnswer::Unreachable);
    });
}

#[test]
fn redis_over_tls_is_believed_only_with_its_authority() {
    runtime().block_on(async {
        let (ours, other) = (authority(), authority());
        let server = with_tls(&ours);
        let mut config = config(&format!("rediss://127.0.0.1:{}/", server.port));
        assert_eq!(node(&config, "a").take(0, TTL).await, LockAnswer::Unreachable, "nobody has signed it");
        config.redis_ca = Some(other.ca.clone());
        assert_eq!(node(&config, "a").take(0, TTL).await, LockAnswer::Unreachable, "somebody else has");
        config.redis_ca = Some(ours.ca.clone());
        keeps_nodes_apart(&config).await;
        tell_each_other(&config).await;
        config.redis_ca = Some(ours.ca.with_file_name("none.pem"));
        let refused = shard_lock(&config, "c", "a").err().unwrap().to_string();
        assert!(refused.contains("--redis-ca (CARILLON_REDIS_CA): cannot read"), "{refused}");
        config.redis_url = Some(server.url());
        let refused = config.validate().unwrap_err().to_string();
        assert!(refused.contains("--redis-ca (CARILLON_REDIS_CA): there is no TLS"), "{refused}");
    });
}

#[test]
fn the_master_that_sentinels_name_is_followed() {
    runtime().block_on(async {
        let master = RedisServer::start(&[]);
        let replica = RedisServer::start(&["--replicaof", "127.0.0.1", &master.port.to_string()]);
        let sentinel = RedisServer::sentinel(master.port);
        let until = Instant::now() + Duration::from_secs(20);
        while !sentinel.cli(&["sentinel", "replicas", "main"]).contains(&replica.port.to_string())
            || !replica.cli(&["info", "replication"]).contains("master_link_status:up")
        {
            assert!(Instant::now() < until, "no replica");
            std::thread::sleep(Duration::from_millis(50));
        }
        let config = config(&format!("redis+sentinel://127.0.0.1:1,127.0.0.1:{}/main", sentinel.port));
        let a = node(&config, "a");
        granted_at_last(&a, 0).await;
        keeps_nodes_apart(&config).await;
        tell_each_other(&config).await;
        master.kill();
        assert_eq!(a.renew(&[0], TTL).await, [LockAnswer::Unreachable]);
        granted_at_last(&a, 0).await;
        let key = replica.cli(&["get", "carillon:of-this-test:shard:0"]);
        assert_eq!(key.trim(), "a", "the replica is the master now");
    });
}

#[test]
fn a_cluster_keeps_nodes_apart() {
    runtime().block_on(async {
        let port = free_port();
        let early = node(&config(&format!("redis+cluster://127.0.0.1:{port}")), "e");
        assert_eq!(early.take(98, TTL).await, LockAnswer::Unreachable);
        let nodes = cluster(port);
        granted_at_last(&early, 98).await;
        let config = config(&format!("redis+cluster://127.0.0.1:1,127.0.0.1:{}", nodes[1].port));
        granted_at_last(&node(&config, "c"), 99).await;
        keeps_nodes_apart(&config).await;
        tell_each_other(&config).await;
        let keys: usize = nodes.iter().map(|node| node.cli(&["keys", "carillon:*"]).lines().count()).sum();
        assert_eq!(keys, 22, "over all of them");
    });
}

/// Connections are taken and nothing is answered: the worst a network does.
// covers: H4
#[test]
fn a_redis_that_never_answers_costs_a_round_one_limit_and_not_one_for_each_shard() {
    runtime().block_on(async {
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        let all: Vec<i32> = (0..64).collect();
        for form in ["redis://127.0.0.1", "redis+sentinel://127.0.0.1", "redis+cluster://127.0.0.1"] {
            let master = if form.contains("sentinel") { "/main" } else { "/" };
            let a = node(&config(&format!("{form}:{port}{master}")), "a");
            for _ in 0..2 {
                let begun = Instant::now();
                assert_eq!(a.renew(&all, TTL).await, vec![LockAnswer::Unreachable; 64]);
                a.release(&all).await;
                let took = begun.elapsed();
                assert!(took < Duration::from_secs(5), "{form}: {took:?}");
            }
        }
    });
}
