//! A stub admin: records its requests, and replies as the test chooses.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use carillon_protocol::{CallbackItem, parse_callbacks};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Limit of every wait in the tests.
pub const LIMIT: Duration = Duration::from_secs(20);

/// The stub's reply to callbacks; heartbeats are accepted.
#[derive(Clone, Copy, PartialEq)]
pub enum StubReply {
    Accept,
    /// HTTP 200, code 500.
    Refuse,
    /// Also to heartbeats.
    WrongToken,
    /// The error page of a proxy.
    Page502,
    /// Closes the connection after the request.
    Cut,
}

#[derive(Clone, Debug)]
pub struct Call {
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: String,
}

pub struct StubAdmin {
    pub address: String,
    pub calls: watch::Sender<Vec<Call>>,
    reply: Arc<Mutex<StubReply>>,
    serving: JoinHandle<()>,
}

impl StubAdmin {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let calls = watch::Sender::new(Vec::new());
        let reply = Arc::new(Mutex::new(StubReply::Accept));
        let (seen, chosen) = (calls.clone(), Arc::clone(&reply));
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, seen.clone(), Arc::clone(&chosen)));
            }
        });
        Self { address, calls, reply, serving }
    }

    pub fn reply_with(&self, reply: StubReply) {
        *self.reply.lock().unwrap() = reply;
    }

    /// Waits until the recorded requests fulfil a condition.
    pub async fn wait_for(&self, what: &str, condition: impl Fn(&[Call]) -> bool) -> Vec<Call> {
        let mut calls = self.calls.subscribe();
        let seen = tokio::time::timeout(LIMIT, calls.wait_for(|calls| condition(calls))).await;
        seen.unwrap_or_else(|_| panic!("timed out waiting for {what}: {:#?}", *self.calls.borrow())).unwrap().clone()
    }

    /// Waits for the first result of a run.
    pub async fn result(&self, log_id: i64) -> CallbackItem {
        let find = |calls: &[Call]| results(calls).into_iter().find(|item| item.log_id == log_id);
        let what = format!("the result of run {log_id}");
        let calls = self.wait_for(&what, |calls| find(calls).is_some()).await;
        find(&calls).unwrap()
    }

    pub fn results(&self) -> Vec<CallbackItem> {
        results(&self.calls.borrow())
    }
}

impl Drop for StubAdmin {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The results of all callbacks, in order.
pub fn results(calls: &[Call]) -> Vec<CallbackItem> {
    let callbacks = calls.iter().filter(|call| call.path == "/api/callback");
    callbacks.flat_map(|call| parse_callbacks(call.body.as_bytes()).unwrap()).collect()
}

async fn serve(stream: TcpStream, calls: watch::Sender<Vec<Call>>, reply: Arc<Mutex<StubReply>>) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some(call)) = read(&mut stream).await {
        let reply = match call.path.as_str() {
            "/api/callback" => *reply.lock().unwrap(),
            _ if *reply.lock().unwrap() == StubReply::WrongToken => StubReply::WrongToken,
            _ => StubReply::Accept,
        };
        calls.send_modify(|calls| calls.push(call));
        let (status, body) = match reply {
            StubReply::Accept => ("200 OK", r#"{"code":200,"msg":null,"content":null,"data":null}"#),
            StubReply::Refuse => ("200 OK", r#"{"code":500,"msg":"not now"}"#),
            StubReply::WrongToken => ("200 OK", r#"{"code":500,"msg":"The access token is wrong.","content":null}"#),
            StubReply::Page502 => ("502 Bad Gateway", "<html>bad gateway</html>"),
            StubReply::Cut => return,
        };
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all((head + body).as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The next request; `None` at the end of the connection.
async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Call>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length").map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let body = String::from_utf8(body).unwrap();
    Ok(Some(Call { path, headers, body }))
}
