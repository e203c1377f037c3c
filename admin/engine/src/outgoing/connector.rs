//! Opens connections to checked addresses, and builds the HTTP client that does.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::Resolve;
use reqwest::{ClientBuilder, Url};
use tokio::net::TcpStream;

use crate::outgoing::address::{self, literal};
use crate::outgoing::network_policy::{Denied, NetworkPolicy, NetworkRules, embedded};
use crate::outgoing::resolver::{CheckedResolver, SystemResolver, allowed, ips};

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

    /// A client that follows no redirect, uses no proxy, repeats nothing, and resolves names to allowed addresses only. A
    /// host that is an IP address and the port do not pass its resolver: [`check`](Self::check) each URL before a request.
    pub fn client_builder(&self) -> ClientBuilder {
        let (policy, resolver) = (self.policy.clone(), self.resolver.clone());
        reqwest::Client::builder()
            .dns_resolver(Arc::new(CheckedResolver { policy, resolver }))
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .no_proxy()
    }

    /// What the resolver of [`client_builder`](Self::client_builder) cannot see of a URL. Resolves a name only if its port is
    /// one at which this node, its database or its Redis listens.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn check(&self, url: &Url) -> io::Result<()> {
        let is_checked_later = url.host_str().is_none_or(|host| literal(host).is_none())
            && !url.port_or_known_default().is_some_and(|port| self.policy.is_guarded_port(port));
        if is_checked_later {
            return Ok(());
        }
        self.resolve(url).await.map(drop)
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
        let servers = self.servers_on(port).await;
        allowed(found, |address| {
            self.policy.check(address)?;
            let is_server = servers.contains(&embedded(address.ip()));
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
    async fn servers_on(&self, port: u16) -> Vec<IpAddr> {
        let mut all = vec![];
        for host in self.policy.servers_on(port) {
            all.extend(self.ips(host).await.unwrap_or_default().into_iter().map(embedded));
        }
        all
    }
}

#[cfg(test)]
#[path = "connector_tests.rs"]
mod tests;
