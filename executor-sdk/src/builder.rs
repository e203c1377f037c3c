//! The settings of an executor.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::handler::{BoxedHandler, JobHandler};
use crate::said::Said;
use crate::token::TokenCheck;
use crate::{Durability, Error, Executor};

/// The settings of an executor; wrong ones are refused by [`build`](Self::build), by name.
pub struct ExecutorBuilder {
    pub(crate) admins: Vec<String>,
    pub(crate) app: String,
    pub(crate) token: String,
    pub(crate) listen: String,
    pub(crate) advertise: Option<String>,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) grace: Duration,
    pub(crate) workers: usize,
    pub(crate) log_days: u64,
    pub(crate) durability: Durability,
    pub(crate) said: Said,
    pub(crate) jobs: Vec<(String, Arc<dyn BoxedHandler>)>,
}

impl ExecutorBuilder {
    pub(crate) fn new() -> Self {
        Self {
            admins: Vec::new(),
            app: String::new(),
            token: String::new(),
            listen: "127.0.0.1:0".to_owned(),
            advertise: None,
            data_dir: None,
            grace: Duration::from_secs(30),
            workers: 1,
            log_days: 30,
            durability: Durability::Machine,
            said: Said::default(),
            jobs: Vec::new(),
        }
    }

    /// Base address of an admin, with its context path if it has one: `http://host:8080` or
    /// `http://host:8080/xxl-job-admin`. Call it once for each admin; the first that accepts is enough. At least one.
    #[must_use]
    pub fn admin(mut self, address: impl Into<String>) -> Self {
        self.admins.push(address.into());
        self
    }

    /// Name of the app whose jobs this executor runs, up to 64 characters. Needed.
    #[must_use]
    pub fn app(mut self, name: impl Into<String>) -> Self {
        self.app = name.into();
        self
    }

    /// The access token, the same as the admin's. Needed: without it anybody who reaches the port could run jobs.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = token.into();
        self
    }

    /// Where to listen for the admin, `ip:port`; port 0 takes a free one. Default: `127.0.0.1:0`, which only an admin
    /// on the same machine reaches.
    #[must_use]
    pub fn listen(mut self, address: impl Into<String>) -> Self {
        self.listen = address.into();
        self
    }

    /// The address that the admin shall call. Default: made from the bound one, `http://ip:port/`; for `0.0.0.0` with
    /// the address of the network card that leads to the first admin. Set it behind NAT, containers and proxies.
    #[must_use]
    pub fn advertise(mut self, address: impl Into<String>) -> Self {
        self.advertise = Some(address.into());
        self
    }

    /// Folder for the journal and the logs of runs; one executor at a time works with it. Default:
    /// `./carillon-executor-data/<app>`.
    #[must_use]
    pub fn data_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(folder.into());
        self
    }

    /// How long running jobs may go on after the signal to stop. Default 30 s.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Threads of the HTTP server, 1 … 64; jobs do not run on them. Default 1, enough for thousands of runs a second.
    #[must_use]
    pub fn workers(mut self, threads: usize) -> Self {
        self.workers = threads;
        self
    }

    /// Days after which the logs of runs are deleted; 0 keeps them. Default 30.
    #[must_use]
    pub fn log_days(mut self, days: u64) -> Self {
        self.log_days = days;
        self
    }

    /// What an accepted run survives. Default: the machine's crash.
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// This executor's share of jobs that are spread by weight, 1 to 100: one with 3 gets three times as many runs as one
    /// with 1. What an operator sets in the admin wins. Default: nothing is said, which counts as 1.
    #[must_use]
    pub fn weight(mut self, weight: u32) -> Self {
        self.said.weight = Some(weight);
        self
    }

    /// Something that this executor is or has, such as `zone` = `eu-1`; jobs may ask for executors with certain labels.
    /// Key and value have 1 to 63 letters, digits, `-`, `_`, `.` and `/`; at most 16 labels, each key once. What an
    /// operator sets in the admin wins.
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.said.labels.push((key.into(), value.into()));
        self
    }

    /// A handler under the name that jobs use for it. At least one; each name once.
    #[must_use]
    pub fn job(mut self, name: impl Into<String>, handler: impl JobHandler) -> Self {
        self.jobs.push((name.into(), Arc::new(handler)));
        self
    }

    /// Checks the settings, binds the address and opens the journal.
    ///
    /// # Errors
    /// A setting that is missing or wrong, an address that is taken, a data folder that is in use or not writable.
    pub fn build(self) -> Result<Executor, Error> {
        self.check()?;
        let fail = |source| Error::Listen { address: self.listen.clone(), source };
        let listener = TcpListener::bind(&self.listen).map_err(fail)?;
        let bound = listener.local_addr().map_err(fail)?;
        let address = match &self.advertise {
            Some(address) => address.clone(),
            None => format!("http://{}/", self.reachable(bound)?),
        };
        Executor::open(self, listener, bound, address)
    }

    fn check(&self) -> Result<(), Error> {
        if self.admins.is_empty() {
            return Err(Error::setting("admin", "none is set; give at least one, as http://host:port"));
        }
        let addresses = self.admins.iter().map(|address| ("admin", address));
        for (name, address) in addresses.chain(self.advertise.iter().map(|a| ("advertise", a))) {
            if !is_http(address) {
                let problem = format!("\"{address}\" is not an address like http://host:port");
                return Err(Error::setting(name, problem));
            }
        }
        if self.app.trim().is_empty() || self.app.chars().count() > 64 {
            return Err(Error::setting("app", "must have 1 to 64 characters, the name of an app of the admin"));
        }
        if self.token.trim().is_empty() {
            let problem = "is empty; set the admin's access token (CARILLON_ACCESS_TOKEN): without one \
                           anybody who reaches this executor could run jobs";
            return Err(Error::setting("token", problem));
        }
        if !(1..=64).contains(&self.workers) {
            return Err(Error::setting("workers", format!("{} is not within 1 and 64", self.workers)));
        }
        self.said.headers().map(drop)
    }

    /// The handlers by name.
    pub(crate) fn handlers(&self) -> Result<HashMap<String, Arc<dyn BoxedHandler>>, Error> {
        let mut handlers = HashMap::new();
        for (name, handler) in &self.jobs {
            if name.trim().is_empty() || name.len() > 255 {
                return Err(Error::setting("job", "a name must have 1 to 255 bytes"));
            }
            if handlers.insert(name.clone(), Arc::clone(handler)).is_some() {
                return Err(Error::setting("job", format!("\"{name}\" is there twice")));
            }
        }
        if handlers.is_empty() {
            return Err(Error::setting("job", "none is set; give at least one handler"));
        }
        Ok(handlers)
    }

    pub(crate) fn token_check(&self) -> TokenCheck {
        if self.token.len() < 16 {
            tracing::warn!("the access token is shorter than 16 characters");
        }
        TokenCheck::new(&self.token)
    }

    /// The bound address as others see it.
    fn reachable(&self, bound: SocketAddr) -> Result<SocketAddr, Error> {
        if !bound.ip().is_unspecified() {
            return Ok(bound);
        }
        let card = || -> Option<SocketAddr> {
            // Connecting a UDP socket sends nothing; it only asks the routing table.
            let any = SocketAddr::new(bound.ip(), 0);
            let socket = UdpSocket::bind(any).ok()?;
            socket.connect(host_and_port(self.admins.first()?)).ok()?;
            socket.local_addr().ok()
        };
        let card = card().ok_or_else(|| {
            Error::setting(
                "advertise",
                "is needed: no network card leads to the admin that could be named instead of the listening address",
            )
        })?;
        Ok(SocketAddr::new(card.ip(), bound.port()))
    }
}

fn is_http(address: &str) -> bool {
    let rest = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
    rest.is_some_and(|rest| {
        !rest.is_empty() && !rest.starts_with(['/', ':']) && rest.chars().all(|char| char.is_ascii_graphic())
    })
}

/// `host:port` of an address that [`is_http`].
fn host_and_port(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
    let host = rest.split('/').next().unwrap_or_default();
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()));
    match (has_port, scheme) {
        (true, _) => host.to_owned(),
        (false, "https") => format!("{host}:443"),
        (false, _) => format!("{host}:80"),
    }
}

#[cfg(test)]
mod tests {
    use super::{host_and_port, is_http};

    #[test]
    fn addresses() {
        assert!(is_http("http://h:1/xxl-job-admin") && is_http("https://[::1]:8/"));
        for wrong in ["", "h:1", "http://", "http:///x", "http://a b", "ftp://h", "http://:80"] {
            assert!(!is_http(wrong), "{wrong}");
        }
        assert_eq!(host_and_port("http://h:1/x"), "h:1");
        assert_eq!(host_and_port("https://h/x"), "h:443");
        assert_eq!(host_and_port("http://[::1]"), "[::1]:80");
    }
}
