//! Names to addresses. A name is resolved for each connection, and only checked addresses are passed on.

use std::io;
use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::outgoing::network_policy::Denied;

/// The resolver of this machine.
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// All addresses of a name.
pub async fn ips(resolver: &dyn Resolve, name: &str) -> io::Result<Vec<IpAddr>> {
    let name: Name = name.parse().map_err(io::Error::other)?;
    let found = resolver.resolve(name).await.map_err(io::Error::other)?;
    Ok(found.map(|address| address.ip()).collect())
}

/// Those that connections may go to; an error if there is none.
pub fn allowed(
    found: impl Iterator<Item = SocketAddr>,
    check: impl Fn(SocketAddr) -> Result<(), Denied>,
) -> io::Result<Vec<SocketAddr>> {
    let (mut allowed, mut denied) = (vec![], None);
    for address in found {
        match check(address) {
            Ok(()) => allowed.push(address),
            Err(why) => denied = Some(why),
        }
    }
    match (allowed.is_empty(), denied) {
        (false, _) => Ok(allowed),
        (true, Some(why)) => Err(io::Error::new(io::ErrorKind::PermissionDenied, why)),
        (true, None) => Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address")),
    }
}
