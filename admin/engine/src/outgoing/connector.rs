//! Opens connections to checked addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::Resolve;
use tokio::net::TcpStream;

use crate::outgoing::address::{self, literal};
use crate::outgoing::network_policy::{Denied, NetworkPolicy, NetworkRules, embedded, is_same_machine};
use crate::outgoing::resolver::{SystemResolver, allowed, ips};

/// Opens connections. A clone shares its rules.
#[derive(Clone)]
pub struct Connector {
    policy: Arc<NetworkPolicy>,
    resolver: Arc<dyn Resolve>,
}

impl Connector {
    pub fn new(rules: NetworkRules) -> Self {
        Self::with_resolver(rules, Arc::new(SystemResolver))
    }

    /// With another resolver than the one of this machine.
    pub fn with_resolver(rules: NetworkRules, resolver: Arc<dyn Resolve>) -> Self {
        Self { policy: Arc::new(NetworkPolicy::new(rules)), resolver }
    }

    /// The node itself listens on loopback, so connections may go there.
    pub fn allows_loopback(&self) -> bool {
        self.policy.allows_loopback()
    }

    /// Whether connections may go to an address that a person enters: its form, and where its name leads now. A name that
    /// cannot be resolved is allowed: another node may know it, and it is checked again with each connection.
    ///
    /// # Errors
    /// What is wrong with it.
    pub async fn admit(&self, address: &str) -> Result<(), String> {
        let url = address::parse(address)?;
        match self.resolve(&url).await {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error.to_string()),
            _ => Ok(()),
        }
    }

    /// A connection to one of the checked addresses of a host. The name is resolved once.
    ///
    /// # Errors
    /// `PermissionDenied`: all its addresses are denied. Others: it cannot be resolved or reached.
    pub async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        TcpStream::connect(&self.addresses(host, port).await?[..]).await
    }

    /// Checks a host that is an IP address. A name is checked when it is resolved for a connection, and not before: the next
    /// answer may be another one.
    pub(super) async fn check_literal(&self, url: &Url) -> io::Result<()> {
        match url.host_str().and_then(literal) {
            Some(_) => self.resolve(url).await.map(drop),
            None => Ok(()),
        }
    }

    /// This node, the database or Redis listens at the port, so it decides whether connections may go to an address.
    pub(super) fn is_guarded_port(&self, port: u16) -> bool {
        self.policy.is_guarded_port(port)
    }

    async fn resolve(&self, url: &Url) -> io::Result<Vec<SocketAddr>> {
        let missing = || io::Error::new(io::ErrorKind::InvalidInput, "no host");
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(missing());
        };
        self.addresses(host, port).await
    }

    /// Of the addresses of a host those that connections may go to, for a client that opens them itself. The name is resolved once.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let found = self.ips(host).await?.into_iter().map(|ip| SocketAddr::new(ip, port));
        let servers = self.servers_on(port).await?;
        allowed(found, |address| {
            self.policy.check(address)?;
            let targets = embedded(address.ip());
            let is_there = |server: &IpAddr| targets.iter().any(|ip| server == ip || is_same_machine(*server, *ip));
            let is_server = servers.iter().any(is_there);
            if is_server { Err(Denied::Own(address)) } else { Ok(()) }
        })
    }

    async fn ips(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        match literal(host) {
            Some(ip) => Ok(vec![ip]),
            None => ips(&*self.resolver, host).await,
        }
    }

    /// Where the database and Redis are, if they listen on this port: hardly ever, so their names are resolved only then.
    ///
    /// # Errors
    /// A name cannot be resolved now. Any address might be that server, so none is connected to on this port.
    async fn servers_on(&self, port: u16) -> io::Result<Vec<IpAddr>> {
        let mut all = vec![];
        for host in self.policy.servers_on(port) {
            let found = self.ips(host).await.unwrap_or_default();
            if found.is_empty() {
                return Err(io::Error::other(format!(
                    "port {port} is one of this admin's database or Redis, whose address cannot be resolved now"
                )));
            }
            all.extend(found.into_iter().flat_map(embedded));
        }
        Ok(all)
    }
}

#[cfg(test)]
#[path = "connector_tests.rs"]
mod tests;
