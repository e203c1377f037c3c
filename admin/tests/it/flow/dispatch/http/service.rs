//! A service that answers with the bytes that a test gives.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What follows a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// These bytes, and the end of the connection.
    Bytes(String),
    /// These bytes when the test says so, and the end of the connection.
    Held(Arc<Notify>, String),
    /// What was received, as the body of an answer with status 200.
    Echo,
    /// No answer, while the connection stays open.
    Silence,
    /// The end of the connection.
    Cut,
}

/// An answer with this status, these lines of headers and this body.
pub fn answer(status: u16, headers: &str, body: &str) -> Reply {
    Reply::Bytes(text_of(status, headers, body))
}

/// The same when the other value is notified.
pub fn held(status: u16, body: &str) -> (Reply, Arc<Notify>) {
    let answer_now = Arc::new(Notify::new());
    (Reply::Held(answer_now.clone(), text_of(status, "", body)), answer_now)
}

fn text_of(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len())
}

#[derive(Clone)]
pub struct Service {
    pub url: String,
    reply: Arc<Mutex<Reply>>,
    received: Arc<Mutex<Vec<String>>>,
}

impl Service {
    pub async fn start(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let service = Self { url, reply: Arc::new(Mutex::new(reply)), received: Arc::default() };
        let own = service.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let own = own.clone();
                tokio::spawn(async move { own.serve(stream).await });
            }
        });
        service
    }

    pub fn reply(&self, reply: Reply) {
        *self.reply.lock().unwrap() = reply;
    }

    /// The requests, each with its head and its body.
    pub fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }

    async fn serve(&self, mut stream: TcpStream) {
        let mut bytes = vec![];
        while !is_whole(&bytes) {
            let mut buffer = [0; 4096];
            match stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return,
                Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            }
        }
        let request = String::from_utf8_lossy(&bytes).into_owned();
        self.received.lock().unwrap().push(request.clone());
        let reply = self.reply.lock().unwrap().clone();
        let reply = match reply {
            Reply::Echo => answer(200, "", &request),
            other => other,
        };
        match reply {
            // Until the other side closes.
            Reply::Silence => drop(stream.read(&mut [0; 1]).await),
            Reply::Bytes(text) => drop(stream.write_all(text.as_bytes()).await),
            Reply::Held(answer_now, text) => {
                answer_now.notified().await;
                drop(stream.write_all(text.as_bytes()).await);
            }
            Reply::Cut | Reply::Echo => {}
        }
    }
}

/// The head, and as many bytes behind it as it says.
fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse::<usize>().ok())?
    });
    body.len() >= length.unwrap_or(0)
}
