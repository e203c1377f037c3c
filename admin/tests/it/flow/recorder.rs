//! A stock executor that writes down what it receives and answers as it is told.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use serde_json::{Value, json};

use crate::ports::ReservedPort;

/// How `/run` is answered.
#[derive(Clone, Debug)]
pub enum Reply {
    Accept,
    /// HTTP 200 with this body.
    Body(String),
    Status(u16),
    /// The request is read, and no answer comes.
    Never,
}

#[derive(Clone, Debug)]
pub struct Received {
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Received {
    pub fn run_id(&self) -> i64 {
        self.body["logId"].as_i64().unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
struct Book {
    received: Mutex<Vec<Received>>,
    reply: Mutex<Option<Reply>>,
    probed: Mutex<Option<Reply>>,
    log: Mutex<Option<Reply>>,
    logs: Mutex<HashMap<i64, Reply>>,
}

pub struct Recorder {
    pub address: String,
    book: Arc<Book>,
    server: actix_web::dev::ServerHandle,
    /// Kept after the end of the server: no other test's server may get this one's runs.
    _port: ReservedPort,
}

impl Recorder {
    pub async fn start() -> Self {
        let book = Arc::new(Book::default());
        let port = ReservedPort::new();
        let listener = port.listen().into_std().unwrap();
        let shared = web::Data::from(book.clone());
        let server = HttpServer::new(move || App::new().app_data(shared.clone()).default_service(web::to(answer)))
            .workers(1)
            .disable_signals()
            .shutdown_timeout(0)
            .listen(listener)
            .unwrap();
        // Without the final slash, as Go and Python register it.
        let address = format!("http://{}", port.address());
        let server = server.run();
        let handle = server.handle();
        tokio::spawn(server);
        Self { address, book, server: handle, _port: port }
    }

    pub fn reply(&self, reply: Reply) {
        *self.book.reply.lock().unwrap() = Some(reply);
    }

    /// How `/beat` and `/idleBeat` are answered, if not as `/run`.
    pub fn when_probed(&self, reply: Reply) {
        *self.book.probed.lock().unwrap() = Some(reply);
    }

    /// How `/log` is answered, if not as `/run`.
    pub fn when_asked_for_a_log(&self, reply: Reply) {
        *self.book.log.lock().unwrap() = Some(reply);
    }

    /// How `/log` is answered for one run.
    pub fn when_asked_for_a_log_of(&self, run_id: i64, reply: Reply) {
        self.book.logs.lock().unwrap().insert(run_id, reply);
    }

    pub fn received(&self, path: &str) -> Vec<Received> {
        self.book.received.lock().unwrap().iter().filter(|call| call.path == path).cloned().collect()
    }

    pub fn runs(&self) -> Vec<Received> {
        self.received("/run")
    }

    /// From now on connections are refused.
    pub async fn die(&self) {
        self.server.stop(false).await;
    }
}

async fn answer(request: HttpRequest, body: web::Bytes, book: web::Data<Book>) -> HttpResponse {
    let headers = request.headers().iter();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let run_id = body["logId"].as_i64().unwrap_or_default();
    book.received.lock().unwrap().push(Received {
        path: request.path().to_owned(),
        headers: headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect(),
        body,
    });
    let special = match request.path() {
        "/beat" | "/idleBeat" => book.probed.lock().unwrap().clone(),
        "/log" => {
            let of_this_run = book.logs.lock().unwrap().get(&run_id).cloned();
            of_this_run.or_else(|| book.log.lock().unwrap().clone())
        }
        _ => None,
    };
    let reply = special.or_else(|| book.reply.lock().unwrap().clone());
    let reply = reply.unwrap_or(Reply::Accept);
    match reply {
        Reply::Accept => {
            HttpResponse::Ok().content_type("text/html;charset=UTF-8").body(json!({"code": 200}).to_string())
        }
        Reply::Body(body) => HttpResponse::Ok().body(body),
        Reply::Status(status) => {
            HttpResponse::build(actix_web::http::StatusCode::from_u16(status).unwrap()).body("<h1>no</h1>")
        }
        Reply::Never => std::future::pending().await,
    }
}
