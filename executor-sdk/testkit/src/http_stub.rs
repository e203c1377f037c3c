//! The HTTP server behind the stand-ins: it records requests and replies as the test chooses.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex};

use carillon_protocol::{
    Answer, BatchAnswer, BatchRun, ItemQuery, MappedItem, RunAnswer, RunBatch, SUCCESS, parse_callbacks, parse_items,
};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::now_ms;

/// A larger body is answered with 413, as by xxl-job's executors.
const MAX_BODY: usize = 5 << 20;

/// How a request is answered.
#[derive(Clone, Debug)]
pub enum Reply {
    /// HTTP 200, `code` 200; of a batch, each run is accepted.
    Accept,
    /// HTTP 200 with this body.
    Body(String),
    /// This HTTP status with a page of HTML, as a proxy answers.
    Status(u16),
    /// The request is read, and no answer comes.
    Never,
    /// The request is read, and the connection closed.
    Cut,
}

impl Reply {
    /// HTTP 200, `code` 500 with this message.
    pub fn refused(message: &str) -> Self {
        Self::Body(serde_json::json!({"code": 500, "msg": message}).to_string())
    }
}

/// A recorded request.
#[derive(Clone, Debug)]
pub struct Call {
    /// Path and query.
    pub path: String,
    /// When its body was complete, in milliseconds since 1970.
    pub received_at: i64,
    /// The body as text.
    pub body: String,
    head: String,
}

impl Call {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The body, `Null` if it is no JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// The id of the run that the request is about.
    ///
    /// # Panics
    /// The request is about no run.
    pub fn run_id(&self) -> i64 {
        self.json()["logId"].as_i64().unwrap()
    }
}

/// By path; for `/log` and results also by run.
#[derive(Default)]
struct Replies {
    default: Option<Reply>,
    by_path: HashMap<String, Reply>,
    by_run: HashMap<i64, Reply>,
    by_result: HashMap<i64, Reply>,
    /// What `/api/map/items` answers, and how many items in one page.
    mapped: Option<(Vec<MappedItem>, usize)>,
}

/// A server whose connections end with this value.
pub struct HttpStub {
    /// `http://127.0.0.1:port`, without a final slash, as executors in Go and Python register it.
    pub address: String,
    /// The requests that `record` has kept.
    pub calls: watch::Sender<Vec<Call>>,
    replies: Arc<Mutex<Replies>>,
    server: Mutex<JoinSet<()>>,
}

impl HttpStub {
    /// `record` sees each request before it is answered, and says whether to keep it.
    ///
    /// # Panics
    /// The listener has no address.
    pub fn start(listener: TcpListener, record: impl Fn(&Call, &Reply) -> bool + Send + Sync + 'static) -> Self {
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (calls, replies) = (watch::Sender::default(), Arc::<Mutex<Replies>>::default());
        let answer = {
            let (calls, replies) = (calls.clone(), replies.clone());
            Arc::new(move |call: Call| {
                let reply = replies.lock().unwrap().of(&call);
                if record(&call, &reply) {
                    calls.send_modify(|calls: &mut Vec<Call>| calls.push(call));
                }
                reply
            })
        };
        let mut server = JoinSet::new();
        server.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let answer = answer.clone();
                connections.spawn(async move { drop(serve(stream, &*answer).await) });
                while connections.try_join_next().is_some() {}
            }
        });
        Self { address, calls, replies, server: Mutex::new(server) }
    }

    /// To each request that has no reply of its own. Replies are not set while another thread has panicked with them.
    ///
    /// # Panics
    /// As said. Also of the methods below.
    pub fn reply(&self, reply: Reply) {
        self.replies.lock().unwrap().default = Some(reply);
    }

    /// To each request of this path, with its query.
    pub fn reply_to(&self, path: &str, reply: Reply) {
        self.replies.lock().unwrap().by_path.insert(path.to_owned(), reply);
    }

    /// To each request for the log of this run.
    pub fn reply_to_log_of(&self, run_id: i64, reply: Reply) {
        self.replies.lock().unwrap().by_run.insert(run_id, reply);
    }

    /// To each list of results that has one of this run.
    pub fn reply_to_result_of(&self, run_id: i64, reply: Reply) {
        self.replies.lock().unwrap().by_result.insert(run_id, reply);
    }

    /// To requests for the items of a run.
    pub fn reply_with_items(&self, items: Vec<MappedItem>, page: usize) {
        self.replies.lock().unwrap().mapped = Some((items, page));
    }

    /// From now on connections are refused, and those that are open are closed.
    pub async fn stop(&self) {
        let mut server = std::mem::take(&mut *self.server.lock().unwrap());
        server.shutdown().await;
    }
}

impl Replies {
    fn of(&self, call: &Call) -> Reply {
        let of_run = || if call.path == "/log" { self.by_run.get(&call.json()["logId"].as_i64()?) } else { None };
        let of_result = || {
            let is_list = call.path == "/api/callback" && !self.by_result.is_empty();
            let items = is_list.then(|| parse_callbacks(call.body.as_bytes()).ok())??.items;
            items.iter().find_map(|item| self.by_result.get(&item.log_id))
        };
        of_run()
            .or_else(of_result)
            .or_else(|| self.by_path.get(&call.path))
            .or(self.default.as_ref())
            .cloned()
            .or_else(|| self.mapped_items(call))
            .unwrap_or(Reply::Accept)
    }

    fn mapped_items(&self, call: &Call) -> Option<Reply> {
        let (items, page) = self.mapped.as_ref().filter(|_| call.path == "/api/map/items")?;
        let query: ItemQuery = parse_items(call.body.as_bytes()).ok()?;
        let page: Vec<_> = items.iter().filter(|item| item.item > query.after).take(*page).collect();
        let list = serde_json::to_string(&page).ok()?;
        Some(Reply::Body(serde_json::to_string(&Answer::ok_with(list)).ok()?))
    }
}

async fn serve(stream: TcpStream, answer: &(impl Fn(Call) -> Reply + Sync)) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some((path, head, length)) = read_head(&mut stream).await? {
        if length > MAX_BODY {
            return stream.write_all(b"HTTP/1.1 413 Payload Too Large\r\nContent-Length: 0\r\n\r\n").await;
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        let body = String::from_utf8_lossy(&body).into_owned();
        let accepted = match path == "/runs" {
            true => accepted_batch(&body),
            false => r#"{"code":200,"msg":null,"content":null,"data":null}"#.to_owned(),
        };
        let (status, body) = match answer(Call { path, received_at: now_ms(), body, head }) {
            Reply::Accept => (200, accepted),
            Reply::Body(body) => (200, body),
            Reply::Status(status) => (status, "<html>an error</html>".to_owned()),
            Reply::Never => {
                // Ends with the connection of the caller.
                stream.read_u8().await?;
                return Ok(());
            }
            Reply::Cut => return Ok(()),
        };
        let head = format!(
            "HTTP/1.1 {status} x\r\nContent-Type: text/html;charset=UTF-8\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await?;
    }
    Ok(())
}

/// The answer to a batch of which every run is accepted.
fn accepted_batch(body: &str) -> String {
    let batch: RunBatch = serde_json::from_str(body).unwrap_or_default();
    let accepted = |run: &BatchRun| RunAnswer {
        log_id: run.run.log_id,
        code: SUCCESS,
        msg: None,
        run_state: None,
        received_at: None,
    };
    serde_json::to_string(&BatchAnswer::new(batch.runs.iter().map(accepted).collect())).unwrap_or_default()
}

/// Path, headers and the body's length; `None` at the end of the connection.
async fn read_head(stream: &mut BufReader<TcpStream>) -> io::Result<Option<(String, String, usize)>> {
    let mut line = String::new();
    if stream.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let start = head.len();
        stream.read_line(&mut head).await?;
        let line = head[start..].trim_end();
        if line.is_empty() {
            return Ok(Some((path, head, length)));
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
}
