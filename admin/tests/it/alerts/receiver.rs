//! Receivers of messages that answer as a test says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// How one request is answered.
#[derive(Clone, Copy, Debug)]
pub enum Reply {
    Status(u16, &'static str),
    /// 429 with `Retry-After`.
    TooMany(u64),
    /// This status, with what was received as the body.
    Echo(u16),
    /// The connection ends without an answer.
    Cut,
    /// It ends in the middle of the answer.
    CutAnswer,
    /// None comes.
    Silence,
}

#[derive(Clone, Debug)]
pub struct Received {
    /// In lower case, with the request line.
    pub head: Vec<String>,
    pub body: Value,
}

impl Received {
    pub fn header(&self, name: &str) -> &str {
        self.head.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
    }
}

#[derive(Clone)]
pub struct Receiver {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl Receiver {
    /// Answers 200 with `body` once it has used up its replies.
    pub async fn start(body: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let receiver = Self { url, received: Arc::default(), replies: Arc::default() };
        let own = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move { own.answer(stream, body).await });
            }
        });
        receiver
    }

    pub fn reply(&self, reply: Reply) {
        self.replies.lock().unwrap().push_back(reply);
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    async fn answer(&self, stream: TcpStream, usual: &str) {
        let mut stream = BufReader::new(stream);
        let (mut head, mut length) = (vec![], 0);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end().to_owned();
            if line.is_empty() {
                break;
            }
            let lower = line.to_lowercase();
            if let Some(number) = lower.strip_prefix("content-length: ") {
                length = number.parse().unwrap();
            }
            let value = line.split_once(": ").map(|(name, value)| format!("{}: {value}", name.to_lowercase()));
            head.push(value.unwrap_or(line));
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.unwrap();
        let echo = format!("{} {}", head.join(" "), String::from_utf8_lossy(&body));
        let body = serde_json::from_slice(&body).unwrap_or_default();
        self.received.lock().unwrap().push(Received { head, body });
        let reply = self.replies.lock().unwrap().pop_front();
        let (status, more, body) = match reply {
            Some(Reply::Cut) => return,
            Some(Reply::Silence) => return std::future::pending().await,
            Some(Reply::CutAnswer) => (200, "X-Cut: 1\r\n".to_owned(), usual.to_owned()),
            Some(Reply::TooMany(seconds)) => (429, format!("Retry-After: {seconds}\r\n"), "slow down".to_owned()),
            Some(Reply::Status(status, body)) => (status, String::new(), body.to_owned()),
            Some(Reply::Echo(status)) => (status, String::new(), echo),
            None => (200, String::new(), usual.to_owned()),
        };
        let length = body.len() + if more.starts_with("X-Cut") { 10 } else { 0 };
        let text = format!("HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n{body}");
        let _ = stream.get_mut().write_all(text.as_bytes()).await;
    }
}
