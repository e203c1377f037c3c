//! A stand-in that answers as one of the published executors does, with its own status and its own type of content.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::raw::Message;
use crate::flow::node::Node;

/// An answer: its status, the line of its type, its body.
#[derive(Clone)]
pub struct Reply {
    status: &'static str,
    content_type: Option<&'static str>,
    body: String,
}

/// The answers of Java: JSON that is called HTML.
pub fn java(body: &Value) -> Reply {
    Reply { status: "200 OK", content_type: Some("text/html;charset=UTF-8"), body: body.to_string() }
}

/// The answers of Go: the library names no type, and its server guesses plain text.
pub fn go(body: &Value) -> Reply {
    Reply { status: "200 OK", content_type: Some("text/plain; charset=utf-8"), body: body.to_string() }
}

/// The answers of the clients in Python and Rust.
pub fn json_type(body: &Value) -> Reply {
    Reply { status: "200 OK", content_type: Some("application/json; charset=utf-8"), body: body.to_string() }
}

/// JSON without a line of its type.
pub fn untyped(body: &Value) -> Reply {
    Reply { status: "200 OK", content_type: None, body: body.to_string() }
}

/// What aiohttp says of a handler that fails, as that of pyxxljob does at a member that it does not know.
pub fn aiohttp_error() -> Reply {
    let body = "500 Internal Server Error\n\nServer got itself in trouble".to_owned();
    Reply { status: "500 Internal Server Error", content_type: Some("text/plain; charset=utf-8"), body }
}

pub fn accepted() -> Value {
    json!({"code": 200, "msg": "Success"})
}

type Answering = dyn Fn(&str, &Value) -> Reply + Send + Sync;

/// Its server ends with this value.
pub struct Published {
    pub address: String,
    requests: Arc<Mutex<Vec<Message>>>,
    /// Runs are answered while it is true.
    answers_runs: watch::Sender<bool>,
    _server: JoinSet<()>,
}

impl Published {
    /// `answering`: the reply to a path and a body.
    pub async fn start(answering: impl Fn(&str, &Value) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (requests, answers_runs) = (Arc::<Mutex<Vec<Message>>>::default(), watch::Sender::new(true));
        let answering: Arc<Answering> = Arc::new(answering);
        let each = Server { seen: requests.clone(), answers_runs: answers_runs.subscribe(), answering };
        let mut server = JoinSet::new();
        server.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                connections.spawn(each.clone().serve(stream));
            }
        });
        Self { address, requests, answers_runs, _server: server }
    }

    /// It answers each request alike.
    pub async fn always(reply: Reply) -> Self {
        Self::start(move |_, _| reply.clone()).await
    }

    /// Whether runs are answered from now on; those that came before are answered then.
    pub fn answer_runs(&self, does: bool) {
        self.answers_runs.send_replace(does);
    }

    /// Paths of the requests so far, with their bodies.
    pub fn requests(&self) -> Vec<(String, Value)> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| (path(request).to_owned(), request.json())).collect()
    }

    /// The values of a header in all requests so far.
    pub fn headers(&self, name: &str) -> Vec<Option<String>> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|request| request.header(name).map(str::to_owned)).collect()
    }

    pub async fn register(&self, node: &Node) {
        node.register_address(&self.address, None).await;
    }
}

fn path(request: &Message) -> &str {
    request.start.split(' ').nth(1).unwrap()
}

#[derive(Clone)]
struct Server {
    seen: Arc<Mutex<Vec<Message>>>,
    answers_runs: watch::Receiver<bool>,
    answering: Arc<Answering>,
}

impl Server {
    async fn serve(mut self, stream: TcpStream) {
        let mut stream = BufReader::new(stream);
        while let Some(request) = Message::read(&mut stream).await {
            let (is_run, reply) = (path(&request).ends_with("/run"), (self.answering)(path(&request), &request.json()));
            self.seen.lock().unwrap().push(request);
            if is_run && self.answers_runs.wait_for(|does| *does).await.is_err() {
                return;
            }
            let content_type = reply.content_type.map(|it| format!("Content-Type: {it}\r\n")).unwrap_or_default();
            let length = reply.body.len();
            let head = format!("HTTP/1.1 {}\r\n{content_type}Content-Length: {length}\r\n\r\n", reply.status);
            if stream.write_all((head + &reply.body).as_bytes()).await.is_err() {
                return;
            }
        }
    }
}
