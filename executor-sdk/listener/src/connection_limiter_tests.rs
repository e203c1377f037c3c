use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket};

use super::*;
use crate::connection::Connection;
use crate::stream::Stream;

struct Pair {
    client: TcpStream,
    server: Option<Stream>,
}

/// A connection from 127.0.0.`last`.
async fn connect(limiter: &Arc<ConnectionLimiter>, last: u8) -> Pair {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into()).unwrap();
    let (client, server) = tokio::join!(socket.connect(listener.local_addr().unwrap()), listener.accept());
    let (server, peer) = server.unwrap();
    Pair { client: client.unwrap(), server: Connection::admit(limiter, server, peer.ip()).map(Stream) }
}

impl Pair {
    fn is_in(&self) -> bool {
        self.server.is_some()
    }

    /// It was answered, and waits for the next request.
    async fn answer(&mut self) {
        let stream = self.server.as_mut().unwrap();
        stream.write_all(b"x").await.unwrap();
        self.client.read_exact(&mut [0]).await.unwrap();
    }

    fn know(&self) {
        self.server.as_ref().unwrap().0.set_known();
    }

    async fn is_cut(&mut self) -> bool {
        matches!(self.client.read(&mut [0]).await, Ok(0) | Err(_))
    }
}

// covers: H26, V7
#[tokio::test]
async fn a_source_has_an_eighth_and_a_known_one_half() {
    let limiter = ConnectionLimiter::start(Limits::of(32));
    let mut held = vec![];
    for _ in 0..4 {
        held.push(connect(&limiter, 1).await);
    }
    assert!(held.iter().all(Pair::is_in));
    assert!(!connect(&limiter, 1).await.is_in(), "32 / 8");
    held[0].know();
    for _ in 4..16 {
        held.push(connect(&limiter, 1).await);
    }
    assert!(held.iter().all(Pair::is_in));
    assert!(!connect(&limiter, 1).await.is_in(), "32 / 2");
    drop(held);
    assert!(limiter.open.lock().all.is_empty() && limiter.open.lock().by_source.is_empty());
}

// covers: V7
#[tokio::test]
async fn the_longest_idle_connection_makes_room_and_one_that_is_answered_does_not() {
    let limiter = ConnectionLimiter::start(Limits::of(16));
    let mut one = connect(&limiter, 1).await;
    let two = connect(&limiter, 1).await;
    assert!(!connect(&limiter, 1).await.is_in(), "both are reading a request");
    one.answer().await;
    let three = connect(&limiter, 1).await;
    assert!(three.is_in() && one.is_cut().await);
    assert_eq!(limiter.open.lock().of_source(SourceNetwork::from(IpAddr::from([127, 0, 0, 1]))), 2);
    drop((one, two, three));
    assert!(limiter.open.lock().all.is_empty(), "each is counted off once");
}

// covers: V7
#[tokio::test]
async fn the_last_eighth_is_for_sources_with_a_credential() {
    let limiter = ConnectionLimiter::start(Limits::of(16));
    let mut held = vec![connect(&limiter, 99).await];
    held[0].know();
    for source in 1..=7 {
        held.push(connect(&limiter, source).await);
        held.push(connect(&limiter, source).await);
    }
    assert_eq!(held.iter().filter(|pair| pair.is_in()).count(), 14);
    assert!(!connect(&limiter, 50).await.is_in());
    assert!(connect(&limiter, 99).await.is_in());
    held[2].answer().await;
    assert!(connect(&limiter, 50).await.is_in(), "an idle one of another source makes room");
    assert!(held[2].is_cut().await);
}

// covers: V7
#[tokio::test]
async fn trusted_proxies_stand_for_many_clients() {
    let is_shared = |address: IpAddr| address == IpAddr::from([127, 0, 0, 9]);
    let limiter = ConnectionLimiter::start(Limits { is_shared: Arc::new(is_shared), ..Limits::of(32) });
    let mut held = vec![];
    for _ in 0..20 {
        held.push(connect(&limiter, 9).await);
    }
    assert!(held.iter().all(Pair::is_in));
}

// covers: V7
#[tokio::test]
async fn who_idles_without_a_credential_or_does_not_read_is_cut() {
    let limiter = ConnectionLimiter::start(Limits::of(32));
    let mut pair = connect(&limiter, 1).await;
    let connection = pair.server.as_ref().unwrap().0.clone();
    let after = |ms: u64| connection.activity().has_overstayed(now_ms() + ms);
    assert!(!after(60_000), "a request is under way; others limit that");
    pair.answer().await;
    assert!(!after(9_000) && after(11_000));
    // The client reads nothing until its window is full.
    let stream = pair.server.as_mut().unwrap();
    let piece = vec![0; 1 << 20];
    while tokio::time::timeout(Duration::from_millis(300), stream.write_all(&piece)).await.is_ok() {}
    assert!(!after(9_000) && after(11_000));
    pair.know();
    assert!(after(11_000), "a credential makes no reader");
    let known = connect(&limiter, 2).await;
    known.know();
    assert!(!known.server.as_ref().unwrap().0.activity().has_overstayed(now_ms() + 60_000));
}

#[test]
fn the_addresses_of_one_host_are_one_source() {
    let of = |text: &str| SourceNetwork::from(text.parse::<IpAddr>().unwrap());
    assert_eq!(of("2001:db8:1:2::7"), of("2001:db8:1:2:3:4:5:6"));
    assert_ne!(of("2001:db8:1:2::7"), of("2001:db8:1:3::7"));
    assert_eq!(of("::ffff:10.0.0.7"), of("10.0.0.7"));
    assert_ne!(of("10.0.0.7"), of("10.0.0.8"));
}

#[test]
fn the_limit_of_open_files_is_found() {
    let text = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files     \n";
    assert_eq!(open_files(text), Some(1024));
    assert_eq!(open_files(""), None);
}
