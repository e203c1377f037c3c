//! HTTP clients that connect to checked addresses alone.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, ClientBuilder, Method, RequestBuilder, Url};

use crate::outgoing::connector::Connector;

type Configure = Box<dyn Fn(ClientBuilder) -> ClientBuilder + Send + Sync>;

/// Nothing listens there, so that it stands for all ports at which nothing of this installation does.
const ORDINARY: u16 = 0;

/// A client for all ports at which nothing of this installation listens, and one for each of the others. A name is resolved once for
/// each connection, by a resolver that is not told the port: where the port decides, the resolver of that port's client knows it.
pub struct HttpClients {
    connector: Connector,
    configure: Configure,
    ordinary: Client,
    /// Made when one is first asked for: hardly ever.
    guarded: Mutex<HashMap<u16, Client>>,
}

impl HttpClients {
    /// Clients that follow no redirect, use no proxy and repeat nothing. `configure`: what else they are to do.
    ///
    /// # Errors
    /// No TLS is at hand.
    pub fn new(
        connector: Connector,
        configure: impl Fn(ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let configure: Configure = Box::new(configure);
        let ordinary = client(&connector, &configure, ORDINARY).map_err(|error| error.to_string())?;
        Ok(Self { connector, configure, ordinary, guarded: Mutex::default() })
    }

    /// A request to a URL whose host connections may go to, as far as that can be said before its name is resolved.
    ///
    /// # Errors
    /// `PermissionDenied`: its host is an IP address that is denied.
    pub async fn post(&self, url: Url) -> io::Result<RequestBuilder> {
        self.request(Method::POST, url).await
    }

    /// The same with another method.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub async fn request(&self, method: Method, url: Url) -> io::Result<RequestBuilder> {
        self.connector.check_literal(&url).await?;
        let client = match url.port_or_known_default().filter(|port| self.connector.is_guarded_port(*port)) {
            None => self.ordinary.clone(),
            Some(port) => self.of_port(port)?,
        };
        Ok(client.request(method, url))
    }

    fn of_port(&self, port: u16) -> io::Result<Client> {
        let mut guarded = self.guarded.lock();
        if let Some(client) = guarded.get(&port) {
            return Ok(client.clone());
        }
        let client = client(&self.connector, &self.configure, port).map_err(io::Error::other)?;
        guarded.insert(port, client.clone());
        Ok(client)
    }
}

fn client(connector: &Connector, configure: &Configure, port: u16) -> reqwest::Result<Client> {
    let builder = || {
        let resolver = CheckedResolver { connector: connector.clone(), port };
        let client = Client::builder().dns_resolver(Arc::new(resolver)).redirect(reqwest::redirect::Policy::none());
        configure(client.retry(reqwest::retry::never()).no_proxy())
    };
    builder().build().or_else(|error| {
        // A machine without authorities, such as a minimal container: http:// works, https:// is refused.
        let client = builder().tls_certs_only([]).build().map_err(|_| error)?;
        tracing::warn!(
            "this machine has no certificates of authorities, so no https:// address is trusted; install ca-certificates"
        );
        Ok(client)
    })
}

/// For reqwest, which tells it the name alone: of its addresses those that connections may go to.
struct CheckedResolver {
    connector: Connector,
    /// Of the requests, or [`ORDINARY`].
    port: u16,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (connector, port) = (self.connector.clone(), self.port);
        Box::pin(async move {
            let allowed = connector.addresses(name.as_str(), port).await?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}
