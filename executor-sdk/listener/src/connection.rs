//! A connection that has been admitted.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::net::TcpStream;

use crate::activity::Activity;
use crate::connection_limiter::{ConnectionLimiter, ConnectionPermit};

/// A further handle to the connection of a request: `HttpRequest::conn_data`.
#[derive(Clone)]
pub struct Connection(Arc<Admitted>);

struct Admitted {
    activity: Arc<Activity>,
    permit: ConnectionPermit,
}

impl Connection {
    /// None: there are too many.
    pub(crate) fn admit(limiter: &Arc<ConnectionLimiter>, tcp: TcpStream, peer: IpAddr) -> Option<Self> {
        let (activity, permit) = limiter.take(tcp, peer)?;
        Some(Self(Arc::new(Admitted { activity, permit })))
    }

    pub(crate) fn activity(&self) -> &Activity {
        &self.0.activity
    }

    /// The client sees it end instead of an answer.
    pub fn cut(&self) {
        self.activity().cut();
    }

    /// Its caller has shown a credential: it may idle longer, and its source gets a larger share of the connections.
    pub fn set_known(&self) {
        if self.activity().set_known() {
            self.0.permit.set_known();
        }
    }
}
