//! Ports for tests that run at the same time: a port that one test has given up must not reach the server of another.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Mutex, PoisonError};

use tokio::net::TcpSocket;

const LOOPBACK: [u8; 4] = [127, 0, 0, 1];

/// A port of this test alone, bound while this value lives. Without a listener the kernel refuses connections to it, and
/// gives it to no other test.
pub struct ReservedPort {
    socket: TcpSocket,
}

impl ReservedPort {
    /// Any free port.
    ///
    /// # Panics
    /// There is none.
    #[expect(clippy::new_without_default, reason = "takes something from the system")]
    pub fn new() -> Self {
        Self { socket: bind((LOOPBACK, 0).into()) }
    }

    /// IP address and port.
    pub fn address(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }

    /// When this listener is dropped, connections are refused, and `listen` may be called again.
    pub fn listen(&self) -> tokio::net::TcpListener {
        bind(self.address()).listen(1024).unwrap()
    }
}

/// Both the reservation and its listener ask to share the port; the kernel never picks a shared port for a caller that asks for any.
fn bind(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseport(true).unwrap();
    socket.bind(address).unwrap();
    socket
}

/// A port for a process that binds it itself, perhaps more than once: below the range from which the kernel takes ports,
/// and given out once in this process. Redis Cluster takes the port 10,000 above too, which is below that range as well.
pub fn free_port() -> u16 {
    static GIVEN: Mutex<Option<HashSet<u16>>> = Mutex::new(None);
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let given = given.get_or_insert_default();
    let is_free = |port: u16| TcpListener::bind(SocketAddr::from((LOOPBACK, port))).is_ok();
    loop {
        let port = rand::random_range(10_001..22_000);
        if is_free(port) && is_free(port + 10_000) && given.insert(port) {
            return port;
        }
    }
}

#[tokio::test]
async fn a_reserved_port_is_refused_until_it_listens_and_again_afterwards() {
    let reserved = ReservedPort::new();
    let connect = || tokio::net::TcpStream::connect(reserved.address());
    let refused = |error: std::io::Error| error.kind() == std::io::ErrorKind::ConnectionRefused;
    assert!(connect().await.is_err_and(refused));
    let listener = reserved.listen();
    connect().await.unwrap();
    drop(listener);
    assert!(connect().await.is_err_and(refused));
    assert!(TcpListener::bind(reserved.address()).is_err(), "it belongs to this test");
}
