//! An admin of a few lines, which records what it is told and answers as the test wants.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use carillon_protocol::{CallbackItem, parse_callbacks};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Nothing that a test waits for may take longer.
pub const LIMIT: Duration = Duration::from_secs(20);

/// What the stub does with callbacks.
#[derive(Clone, Copy, PartialEq)]
pub enum Manner {
    Accept,
    /// HTTP 200, code 500.
    Refuse,
    /// To every request.
    WrongToken,
    /// A proxy's page.
    Page502,
    /// Reads the request and cuts the connection.
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
    manner: Arc<Mutex<Manner>>,
    serving: JoinHandle<()>,
}

impl StubAdmin {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let calls = watch::Sender::new(Vec::new());
        let manner = Arc::new(Mutex::new(Manner::Accept));
        let (seen, how) = (calls.clone(), Arc::clone(&manner));
        let serving = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, seen.clone(), Arc::clone(&how)));
            }
        });
        Self { address, calls, manner, serving }
    }

    pub fn answer_callbacks(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    /// Waits until the recorded calls fulfil a condition.
    pub async fn until(&self, what: &str, condition: impl Fn(&[Call]) -> bool) -> Vec<Call> {
        let mut calls = self.calls.subscribe();
        let seen = tokio::time::timeout(LIMIT, calls.wait_for(|calls| condition(calls))).await;
        seen.unwrap_or_else(|_| panic!("{what} did not come: {:#?}", *self.calls.borrow())).unwrap().clone()
    }

    /// Waits for the result of a run: the first that came.
    pub async fn result(&self, log_id: i64) -> CallbackItem {
        let find = |calls: &[Call]| results(calls).into_iter().find(|item| item.log_id == log_id);
        let what = format!("the result of run {log_id}");
        let calls = self.until(&what, |calls| find(calls).is_some()).await;
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

/// All results in the callbacks, in their order.
pub fn results(calls: &[Call]) -> Vec<CallbackItem> {
    let callbacks = calls.iter().filter(|call| call.path == "/api/callback");
    callbacks.flat_map(|call| parse_callbacks(call.body.as_bytes()).unwrap()).collect()
}

async fn serve(stream: TcpStream, calls: watch::Sender<Vec<Call>>, manner: Arc<Mutex<Manner>>) {
    let mut stream = BufReader::new(stream);
    while let Ok(Some(call)) = read(&mut stream).await {
        let manner = match call.path.as_str() {
            "/api/callback" => *manner.lock().unwrap(),
            _ if *manner.lock().unwrap() == Manner::WrongToken => Manner::WrongToken,
            _ => Manner::Accept,
        };
        calls.send_modify(|calls| calls.push(call));
        let (status, body) = match manner {
            Manner::Accept => ("200 OK", r#"{"code":200,"msg":null,"content":null,"data":null}"#),
            Manner::Refuse => ("200 OK", r#"{"code":500,"msg":"not now"}"#),
            Manner::WrongToken => ("200 OK", r#"{"code":500,"msg":"The access token is wrong.","content":null}"#),
            Manner::Page502 => ("502 Bad Gateway", "<html>bad gateway</html>"),
            Manner::Cut => return,
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
