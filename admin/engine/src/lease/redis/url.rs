//! Where Redis is, read from its URL: one server, Sentinels, or a Cluster.

use std::fmt;

const RIGHT: &str = "write redis://host:6379/, redis+sentinel://host:26379,host:26379/MASTER or \
     redis+cluster://host:6379,host:6379 (rediss… with TLS)";

/// A Redis as its URL names it. The `Debug` form shows no password.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisUrl {
    /// One server, Sentinels, or a Cluster.
    pub form: RedisForm,
    /// Of the server, the Sentinels or some nodes of the Cluster: at least one.
    pub hosts: Vec<(String, u16)>,
    /// TLS on every connection.
    pub tls: bool,
    /// Of the data servers.
    pub user: Option<String>,
    /// Of the data servers.
    pub password: Option<String>,
    /// Number of the database; a Cluster has only 0.
    pub database: i64,
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
        let (login, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let port = if kind == "+sentinel" { 26379 } else { 6379 };
        let hosts = hosts
            .split(',')
            .map(|text| host(text, port))
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| wrong("a host or its port is missing or wrong"))?;
        let (form, database) = form(kind, path).ok_or_else(|| wrong(expected(kind)))?;
        if form == RedisForm::Single && hosts.len() > 1 {
            return Err(wrong("several hosts are Sentinels or a Cluster"));
        }
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let asked = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).find_map(|(_, value)| decoded(value))
        };
        Ok(Self {
            form,
            hosts,
            tls,
            user: decoded(user),
            password: decoded(password),
            database,
            sentinel_user: asked("sentinel_user"),
            sentinel_password: asked("sentinel_password"),
        })
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
            let master = decoded(master)?;
            Some((RedisForm::Sentinel { master }, number(database)?))
        }
        _ => None,
    }
}

fn host(text: &str, port: u16) -> Option<(String, u16)> {
    let (host, given) = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => text.find(':').map_or((text, ""), |colon| text.split_at(colon)),
    };
    let port = match given.strip_prefix(':') {
        Some(number) => number.parse().ok()?,
        None if given.is_empty() => port,
        None => return None,
    };
    (!host.is_empty()).then(|| (host.to_owned(), port))
}

/// `%40` is `@`. None: nothing is there.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = vec![];
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        let hex = (*first == b'%').then(|| others.get(..2).and_then(|two| std::str::from_utf8(two).ok())).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &others[2..];
            }
            None => {
                bytes.push(*first);
                rest = others;
            }
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.is_empty()).then_some(text)
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisUrl")
            .field("form", &self.form)
            .field("hosts", &self.hosts)
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

    #[test]
    fn one_server() {
        let url = read("rediss://u:p%40w@[::1]:7000/3");
        assert_eq!(url.form, RedisForm::Single);
        assert_eq!(url.hosts, [("::1".to_owned(), 7000)]);
        assert_eq!((url.tls, url.database), (true, 3));
        assert_eq!(url.user.as_deref(), Some("u"));
        assert_eq!(url.password.as_deref(), Some("p@w"));
        assert_eq!(read("redis://:p@h").user, None);
        assert_eq!(read("redis://h").hosts, [("h".to_owned(), 6379)]);
    }

    #[test]
    fn sentinels_and_clusters() {
        let url = read("redis+sentinel://:p@a,b:7/main/2?sentinel_password=s");
        let master = "main".to_owned();
        assert_eq!(url.form, RedisForm::Sentinel { master });
        assert_eq!(url.hosts, [("a".to_owned(), 26379), ("b".to_owned(), 7)]);
        assert_eq!((url.database, url.tls), (2, false));
        assert_eq!(url.sentinel_password.as_deref(), Some("s"));
        let url = read("rediss+cluster://a:1,b:2/");
        assert_eq!((url.form, url.hosts.len(), url.tls), (RedisForm::Cluster, 2, true));
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
