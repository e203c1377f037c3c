//! An admin that takes everything and counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::Outcome;

#[derive(Default)]
struct Counts {
    results: AtomicUsize,
    callbacks: AtomicUsize,
}

/// It ends with this value.
pub struct Admin {
    pub address: String,
    counts: Arc<Counts>,
    serving: JoinHandle<()>,
}

impl Admin {
    pub async fn start() -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let (address, counts) = (format!("http://{}", listener.local_addr()?), Arc::<Counts>::default());
        let serving = tokio::spawn(serve(listener, counts.clone()));
        Ok(Self { address, counts, serving })
    }

    /// Waits until it has this number of results.
    pub async fn has_results(&self, count: usize) -> Outcome<()> {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.counts.results.load(Ordering::Relaxed) < count {
            if Instant::now() > deadline {
                return Err("results are missing".into());
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    pub fn callbacks(&self) -> usize {
        self.counts.callbacks.load(Ordering::Relaxed)
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, counts: Arc<Counts>) {
    while let Ok((stream, _)) = listener.accept().await {
        let counts = counts.clone();
        tokio::spawn(async move { drop(answer_all(stream, &counts).await) });
    }
}

async fn answer_all(mut stream: TcpStream, counts: &Counts) -> Outcome<()> {
    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"code\":200}";
    let (mut bytes, mut part) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let read = stream.read(&mut part).await?;
        if read == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&part[..read]);
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() < length.unwrap_or("0").parse::<usize>()? {
            continue;
        }
        if head.starts_with("post /api/callback") {
            counts.results.fetch_add(body.matches("\"logId\"").count(), Ordering::Relaxed);
            counts.callbacks.fetch_add(1, Ordering::Relaxed);
        }
        bytes.clear();
        stream.write_all(ANSWER).await?;
    }
}
