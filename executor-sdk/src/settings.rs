//! The settings of an executor, their checks, and the addresses that follow from them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::admin::Announcement;
use crate::certificates::Certificates;
use crate::declared::{DeclaredProgram, DeclaredSettings, RegisteredJob, collect};
use crate::error::Error;
use crate::handler::BoxedHandler;
use crate::journal::Durability;
use crate::map::ItemClient;
use crate::script::ScriptType;

/// What the builder collects.
pub(crate) struct Settings {
    pub(crate) admins: Vec<String>,
    pub(crate) app: String,
    pub(crate) token: String,
    pub(crate) second_token: Option<String>,
    pub(crate) is_signed: bool,
    pub(crate) listen: String,
    pub(crate) advertise: Option<String>,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) grace: Duration,
    pub(crate) workers: usize,
    pub(crate) max_connections: usize,
    pub(crate) certificates: Certificates,
    pub(crate) log_days: u64,
    pub(crate) log_megabytes: u64,
    pub(crate) durability: Durability,
    pub(crate) announcement: Announcement,
    pub(crate) jobs: Vec<(String, RegisteredJob)>,
    /// What the builder says about declared jobs.
    pub(crate) declared: DeclaredSettings,
    /// All declared jobs of the program.
    pub(crate) program: DeclaredProgram,
    pub(crate) scripts: BTreeMap<ScriptType, Arc<dyn BoxedHandler>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            admins: Vec::new(),
            app: String::new(),
            token: String::new(),
            second_token: None,
            is_signed: false,
            listen: "127.0.0.1:0".to_owned(),
            advertise: None,
            data_dir: None,
            grace: Duration::from_secs(30),
            workers: 1,
            max_connections: 256,
            certificates: Certificates::default(),
            log_days: 30,
            log_megabytes: 10_240,
            durability: Durability::Machine,
            announcement: Announcement::default(),
            jobs: Vec::new(),
            declared: DeclaredSettings::default(),
            program: DeclaredProgram::default(),
            scripts: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Checks everything that needs no access to the system.
    pub(crate) fn check(&self) -> Result<(), Error> {
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
                           any client that reaches this executor could run jobs";
            return Err(Error::setting("token", problem));
        }
        if self.second_token.as_ref().is_some_and(|token| token.trim().is_empty()) {
            return Err(Error::setting("second_token", "is empty; leave it out unless tokens are being changed"));
        }
        if !(1..=64).contains(&self.workers) {
            return Err(Error::setting("workers", format!("{} is not within 1 and 64", self.workers)));
        }
        if !(8..=65_536).contains(&self.max_connections) {
            let problem = format!("{} is not within 8 and 65536", self.max_connections);
            return Err(Error::setting("max_connections", problem));
        }
        self.announcement.headers()?;
        self.check_handlers()
    }

    /// Finds the declared jobs of the program, and registers their handlers.
    pub(crate) fn add_declared(&mut self) -> Result<(), Error> {
        let (program, handlers) = collect(&self.app, std::mem::take(&mut self.declared))?;
        let is_free = |name: &str| self.jobs.iter().chain(&handlers.own).all(|(known, _)| known != name);
        let mut former = handlers.former.clone();
        former.retain(|(name, _)| is_free(name));
        let mut own = handlers.own;
        self.jobs.append(&mut own);
        self.jobs.append(&mut former);
        self.program = program;
        Ok(())
    }

    /// The access tokens, the preferred one first.
    pub(crate) fn tokens(&self) -> impl Iterator<Item = &str> {
        [Some(self.token.as_str()), self.second_token.as_deref()].into_iter().flatten()
    }

    /// Whether requests to this executor must be signed. TLS makes signatures superfluous.
    pub(crate) fn takes_signed_requests(&self) -> bool {
        self.is_signed && self.certificates.server.is_none()
    }

    fn check_handlers(&self) -> Result<(), Error> {
        let mut names = HashSet::new();
        for (name, _) in &self.jobs {
            if name.trim().is_empty() || name.len() > 255 {
                return Err(Error::setting("job", "a name must have 1 to 255 bytes"));
            }
            if !names.insert(name) {
                return Err(Error::setting("job", format!("\"{name}\" is registered twice")));
            }
        }
        if names.is_empty() && self.scripts.is_empty() {
            return Err(Error::setting("job", "none is set; give at least one handler"));
        }
        Ok(())
    }

    /// The handlers by name; map jobs send their items with `client`.
    pub(crate) fn handlers(&self, client: &ItemClient) -> HashMap<String, Arc<dyn BoxedHandler>> {
        self.jobs.iter().map(|(name, job)| (name.clone(), job.connect(client))).collect()
    }

    /// Binds the address to listen on.
    pub(crate) fn bind(&self) -> Result<(TcpListener, SocketAddr), Error> {
        let fail = |source| Error::Listen { address: self.listen.clone(), source };
        let listener = TcpListener::bind(&self.listen).map_err(fail)?;
        let bound = listener.local_addr().map_err(fail)?;
        Ok((listener, bound))
    }

    /// The address that admins call.
    pub(crate) fn advertised(&self, bound: SocketAddr) -> Result<String, Error> {
        match &self.advertise {
            Some(address) => Ok(address.clone()),
            None => {
                let scheme = if self.certificates.server.is_some() { "https" } else { "http" };
                Ok(format!("{scheme}://{}/", self.reachable(bound)?))
            }
        }
    }

    /// The bound address; for an unspecified one, with the address of the network interface that leads to the first
    /// admin.
    fn reachable(&self, bound: SocketAddr) -> Result<SocketAddr, Error> {
        if !bound.ip().is_unspecified() {
            return Ok(bound);
        }
        let interface = || -> Option<SocketAddr> {
            // Connecting a UDP socket sends nothing; it only asks the routing table.
            let any = SocketAddr::new(bound.ip(), 0);
            let socket = UdpSocket::bind(any).ok()?;
            socket.connect(host_and_port(self.admins.first()?)).ok()?;
            socket.local_addr().ok()
        };
        let interface = interface().ok_or_else(|| {
            Error::setting(
                "advertise",
                "is needed: the executor listens on all addresses, and no network interface has a route to the admin",
            )
        })?;
        Ok(SocketAddr::new(interface.ip(), bound.port()))
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
