//! A wire to a database that can be cut at a chosen moment: after a request has reached the server, before its answer
//! reaches the client.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// When to cut, once.
#[derive(Clone, Debug)]
struct Moment {
    /// A request that holds this text …
    text: &'static str,
    /// … or the one that comes `later` requests later on the same wire: a statement is prepared by one, executed by another.
    later: usize,
}

pub struct Wire {
    pub address: SocketAddr,
    next: Arc<Mutex<Option<Moment>>>,
    cuts: Arc<Mutex<usize>>,
    trips: Arc<AtomicUsize>,
}

impl Wire {
    pub async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (next, cuts) = (Arc::<Mutex<Option<Moment>>>::default(), Arc::<Mutex<usize>>::default());
        let trips = Arc::<AtomicUsize>::default();
        let (moment, count, asked) = (next.clone(), cuts.clone(), trips.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let asked = asked.clone();
                tokio::spawn(carry(client, server, moment.clone(), count.clone(), asked));
            }
        });
        Self { address, next, cuts, trips }
    }

    pub fn cut_after(&self, text: &'static str, later: usize) {
        *self.next.lock().unwrap() = Some(Moment { text, later });
    }

    /// How often a client has waited for the server so far.
    pub fn round_trips(&self) -> usize {
        self.trips.load(Ordering::Relaxed)
    }

    pub fn cuts(&self) -> usize {
        *self.cuts.lock().unwrap()
    }
}

async fn carry(
    mut client: TcpStream,
    mut server: TcpStream,
    next: Arc<Mutex<Option<Moment>>>,
    cuts: Arc<Mutex<usize>>,
    trips: Arc<AtomicUsize>,
) {
    let mut has_answered = true;
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    // Requests until the cut, once its text was seen here.
    let mut left: Option<usize> = None;
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let Ok(size @ 1..) = read else { return };
                // A long request comes in several pieces.
                trips.fetch_add(usize::from(std::mem::take(&mut has_answered)), Ordering::Relaxed);
                if left.is_none() {
                    let mut next = next.lock().unwrap();
                    let is_it = next.as_ref().is_some_and(|moment| holds(&asked[..size], moment.text));
                    left = next.take_if(|_| is_it).map(|moment| moment.later + 1);
                }
                if server.write_all(&asked[..size]).await.is_err() {
                    return;
                }
                left = left.map(|left| left.saturating_sub(1));
                if left == Some(0) {
                    // The server has executed the statement when it answers; the answer is dropped.
                    let _ = server.read(&mut answered).await;
                    *cuts.lock().unwrap() += 1;
                    return;
                }
            }
            read = server.read(&mut answered) => {
                let Ok(size @ 1..) = read else { return };
                has_answered = true;
                if client.write_all(&answered[..size]).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
