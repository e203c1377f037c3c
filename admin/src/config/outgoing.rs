//! Where connections to executors may go.

use std::net::SocketAddr;

use carillon_engine::lease::redis::url::RedisUrl;
use carillon_engine::outgoing::{NetworkRules, Purpose};

use crate::config::settings::Config;

impl Config {
    /// Where connections to executors may go, for a node that listens there.
    pub fn network_rules(&self, listeners: Vec<SocketAddr>) -> NetworkRules {
        let redis = self.redis_url.as_deref().and_then(|url| RedisUrl::parse(url).ok());
        let redis = redis.map(|url| url.addresses()).unwrap_or_default();
        NetworkRules {
            purpose: Purpose::Executors,
            networks: self.executor_networks.as_ref().map(|all| all.as_slice().to_vec()),
            has_loopback_executors: self.executors_at().ip().is_loopback(),
            listeners,
            servers: self.database.address().into_iter().chain(redis).collect(),
        }
    }

    /// Where requests of HTTP jobs may go, on a node with these rules for executors.
    pub fn http_rules(&self, executors: &NetworkRules) -> NetworkRules {
        let networks = self.http_networks.as_ref().map(|all| all.as_slice().to_vec());
        NetworkRules { purpose: Purpose::HttpJobs, networks, ..executors.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::database::Database;

    // covers: S19
    #[test]
    fn the_database_and_redis_are_among_the_servers() {
        let mut config = Config::new("data", "token");
        assert!(config.network_rules(vec![]).servers.is_empty(), "a file and no Redis");
        config.database = Database::parse("postgres://u:p@db/jobs").unwrap();
        config.redis_url = Some("redis+sentinel://s1:26379,s2:26380/master".into());
        let servers = config.network_rules(vec![]).servers;
        let expected = [("db", 5432), ("s1", 26379), ("s2", 26380)];
        assert_eq!(servers, expected.map(|(host, port)| (host.to_owned(), port)));
        config.database = Database::parse("mysql://u@[fd12::7]:3307/jobs").unwrap();
        assert_eq!(config.network_rules(vec![]).servers[0], ("[fd12::7]".to_owned(), 3307));
        config.database = Database::parse("postgres://u@db:5433/jobs?host=other&port=6000").unwrap();
        assert_eq!(config.network_rules(vec![]).servers[0], ("other".to_owned(), 6000), "as its driver reads it");
        assert!(config.network_rules(vec![]).has_loopback_executors);
        config.listen = "0.0.0.0:8080".parse().unwrap();
        assert!(!config.network_rules(vec![]).has_loopback_executors);
    }
}
