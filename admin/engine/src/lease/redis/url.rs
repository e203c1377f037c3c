//! Where Redis is, read from its URL: one server, Sentinels, or a Cluster.

use std::fmt;

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _};

const RIGHT: &str = "write redis://host:6379/, redis+sentinel://host:26379,host:26379/MASTER or \
     redis+cluster://host:6379,host:6379 (rediss… with TLS)";

/// A Redis as its URL names it. The `Debug` form shows no password.
#[derive(Clone)]
pub struct RedisUrl {
    /// One server, Sentinels, or a Cluster.
    pub form: RedisForm,
    /// The server, the Sentinels or some nodes of the Cluster: at least one, each with the login and the database of the data servers.
    pub servers: Vec<ConnectionInfo>,
    /// TLS on every connection.
    pub tls: bool,
    /// Of the Sentinels, from `?sentinel_user=…&sentinel_password=…`.
    pub sentinel_user: Option<String>,
    /// Of the Sentinels.
    pub sentinel_password: Option<String>,
}

/// What answers at the hosts of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisForm {
    /// One server.
    Single,
    /// Sentinels that know where the master of this name is.
    Sentinel {
        /// The name in the Sentinels' configuration.
        master: String,
    },
    /// Nodes of a Cluster.
    Cluster,
}

impl RedisUrl {
    /// Reads `redis://`, `redis+sentinel://` and `redis+cluster://`, each also with `rediss`.
    ///
    /// # Errors
    /// What is wrong and what would be right, without the password.
    pub fn parse(url: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("{what}; {RIGHT}");
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("this is no URL of a Redis server"))?;
        let (kind, tls) = match scheme.strip_prefix("rediss") {
            Some(kind) => (kind, true),
            None => (scheme.strip_prefix("redis").ok_or_else(|| wrong("this is no URL of a Redis server"))?, false),
        };
        if rest.contains('#') {
            return Err(wrong("a `#` part is not taken: TLS is always verified"));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (login, rest) = rest.rfind('@').map_or(("", rest), |at| rest.split_at(at + 1));
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (form, database) = form(kind, path).ok_or_else(|| wrong(expected(kind)))?;
        let (scheme, login) = (if tls { "rediss" } else { "redis" }, login.replace('/', "%2F"));
        let port = if kind == "+sentinel" { 26379 } else { 6379 };
        let server = |host| server(&format!("{scheme}://{login}{host}/{database}?{query}"), port);
        let servers: Option<Vec<ConnectionInfo>> = hosts.split(',').map(server).collect();
        let servers = servers.ok_or_else(|| wrong("a host or its port is missing or wrong"))?;
        if form == RedisForm::Single && servers.len() > 1 {
            return Err(wrong("several hosts are Sentinels or a Cluster"));
        }
        let (sentinel_user, sentinel_password) = (value(query, "sentinel_user"), value(query, "sentinel_password"));
        Ok(Self { form, servers, tls, sentinel_user, sentinel_password })
    }
}

impl RedisUrl {
    /// Host and port of each server.
    pub fn addresses(&self) -> Vec<(String, u16)> {
        let address = |server: &ConnectionInfo| match server.addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => Some((host.clone(), *port)),
            _ => None,
        };
        self.servers.iter().filter_map(address).collect()
    }
}

fn expected(kind: &str) -> &'static str {
    match kind {
        "" => "after the host only the number of a database may follow",
        "+sentinel" => "after the hosts the name of the master must follow",
        "+cluster" => "a Cluster has no database but 0",
        _ => "this is no URL of a Redis server",
    }
}

fn form(kind: &str, path: &str) -> Option<(RedisForm, i64)> {
    let number = |text: &str| match text {
        "" => Some(0),
        text => text.parse().ok().filter(|number| *number >= 0),
    };
    match kind {
        "" => Some((RedisForm::Single, number(path)?)),
        "+cluster" => (number(path)? == 0).then_some((RedisForm::Cluster, 0)),
        "+sentinel" => {
            let (master, database) = path.split_once('/').unwrap_or((path, ""));
            let master = value(&format!("master={master}"), "master")?;
            Some((RedisForm::Sentinel { master }, number(database)?))
        }
        _ => None,
    }
}

/// One server as the client reads it.
fn server(url: &str, port: u16) -> Option<ConnectionInfo> {
    let mut url = redis::parse_redis_url(url)?;
    if url.port().is_none() {
        url.set_port(Some(port)).ok()?;
    }
    url.into_connection_info().ok()
}

/// A value of a query, which may be written with `%40` for `@`. None: it is not there, or empty.
fn value(query: &str, name: &str) -> Option<String> {
    // In a form a plus would be a space; in a password it is a plus.
    let url = redis::parse_redis_url(&format!("redis://host?{}", query.replace('+', "%2B")))?;
    url.query_pairs().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.into_owned())
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisUrl")
            .field("form", &self.form)
            .field("servers", &self.servers.iter().map(|it| it.addr().to_string()).collect::<Vec<_>>())
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> RedisUrl {
        RedisUrl::parse(url).unwrap()
    }

    fn hosts(url: &RedisUrl) -> Vec<String> {
        url.servers.iter().map(|server| server.addr().to_string()).collect()
    }

    #[test]
    fn one_server() {
        let url = read("rediss://u:p%40w@[::1]:7000/3");
        assert_eq!((&url.form, url.tls), (&RedisForm::Single, true));
        assert_eq!(hosts(&url), ["::1:7000"]);
        let data = url.servers[0].redis_settings();
        assert_eq!((data.username(), data.password(), data.db()), (Some("u"), Some("p@w"), 3));
        let url = read("redis://:p/w@h");
        assert_eq!(url.servers[0].redis_settings().username(), None);
        assert_eq!(url.servers[0].redis_settings().password(), Some("p/w"));
        assert_eq!(hosts(&read("redis://h")), ["h:6379"]);
    }

    #[test]
    fn sentinels_and_clusters() {
        let url = read("redis+sentinel://:p@a,b:7/main/2?sentinel_password=s%40+");
        let master = "main".to_owned();
        assert_eq!((&url.form, url.tls), (&RedisForm::Sentinel { master }, false));
        assert_eq!(hosts(&url), ["a:26379", "b:7"]);
        let data = url.servers[0].redis_settings();
        assert_eq!((data.password(), data.db()), (Some("p"), 2));
        assert_eq!((url.sentinel_user.as_deref(), url.sentinel_password.as_deref()), (None, Some("s@+")));
        let url = read("rediss+cluster://a:1,b:2/");
        assert_eq!((&url.form, url.servers.len(), url.tls), (&RedisForm::Cluster, 2, true));
    }

    #[test]
    fn a_wrong_url_is_answered_with_what_would_be_right_and_without_its_password() {
        for (url, said) in [
            ("", "no URL"),
            ("http://h", "no URL of a Redis server"),
            ("redis+other://h", "no URL of a Redis server"),
            ("redis://:geheim@", "a host or its port is missing"),
            ("redis://h:x", "a host or its port"),
            ("redis://a,b/", "several hosts are Sentinels or a Cluster"),
            ("redis://h/name", "only the number of a database"),
            ("redis+sentinel://h:1", "the name of the master"),
            ("redis+cluster://h/1", "no database but 0"),
            ("rediss://:geheim@h/#insecure", "TLS is always verified"),
        ] {
            let complaint = RedisUrl::parse(url).unwrap_err();
            assert!(complaint.contains(said), "{url}: {complaint}");
            assert!(complaint.contains("write redis://host:6379/"), "{complaint}");
            assert!(!complaint.contains("geheim"), "{complaint}");
        }
        let shown = format!("{:?}", read("redis://:geheim@h"));
        assert!(!shown.contains("geheim"), "{shown}");
    }
}
