//! A TCP proxy before a database, whose existing connections can be made silent for good while new ones pass: what a host that
//! lost its power, or a forgotten NAT entry, looks like from the client.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

pub struct Wire {
    address: SocketAddr,
    /// Connections with a smaller number forward nothing any more.
    silent_below: watch::Sender<usize>,
    accepted: Arc<AtomicUsize>,
}

impl Wire {
    pub async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (silent_below, silence) = watch::channel(0);
        let accepted = Arc::new(AtomicUsize::new(0));
        let count = accepted.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let Ok(server) = TcpStream::connect(target).await else {
                    continue;
                };
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(pump(from_client, to_server, number, silence.clone()));
                tokio::spawn(pump(from_server, to_client, number, silence.clone()));
            }
        });
        Self { address, silent_below, accepted }
    }

    /// The same URL, through this wire.
    pub fn url(&self, url: &str) -> String {
        let mut url: url::Url = url.parse().unwrap();
        url.set_ip_host(self.address.ip()).unwrap();
        url.set_port(Some(self.address.port())).unwrap();
        url.to_string()
    }

    /// From now on nothing passes on the connections that are there, in either direction, and none of them is closed.
    pub fn silence_existing(&self) {
        self.silent_below.send_replace(self.accepted.load(Ordering::SeqCst));
    }

    /// New connections are accepted, and silent too.
    pub fn silence_all(&self) {
        self.silent_below.send_replace(usize::MAX);
    }
}

/// Where the server of this URL listens.
pub fn address_of(url: &str) -> SocketAddr {
    let url: url::Url = url.parse().unwrap();
    let port = url.port().unwrap_or(match url.scheme() {
        "postgres" => 5432,
        _ => 3306,
    });
    let host = url.host_str().unwrap();
    std::net::ToSocketAddrs::to_socket_addrs(&(host, port)).unwrap().next().unwrap()
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, number: usize, mut silence: watch::Receiver<usize>) {
    let mut bytes = vec![0; 65_536];
    loop {
        let got = tokio::select! {
            biased;
            _ = silence.wait_for(|below| number < *below) => break,
            got = from.read(&mut bytes) => got,
        };
        match got {
            Ok(count) if count > 0 && to.write_all(&bytes[..count]).await.is_ok() => {}
            _ => return,
        }
    }
    // Silent: both halves stay open, and no end of the other side is passed on.
    std::future::pending::<()>().await;
}
