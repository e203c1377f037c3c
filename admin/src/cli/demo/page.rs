//! A page of the demo on loopback, with a port of its own: an HTTP job sends the minute to it, and the page shows what has arrived.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Data, PayloadConfig};
use actix_web::{App, HttpResponse, HttpServer};
use carillon_scheduler::job::http::ExpectDraft;
use carillon_scheduler::workflow::{Op, Test};
use carillon_scheduler::{HttpDraft, JobDraft, ScheduleDraft};
use parking_lot::Mutex;
use serde_json::json;

use super::app::{APP, tags};

/// By which the job is found in a database that is kept.
pub const KEY: &str = "minutes";
const NAME: &str = "Send the minute to a page of the demo";
/// The network that HTTP jobs may call.
pub const NETWORK: &str = "127.0.0.1";
/// Bytes of a message.
const MOST_BYTES: usize = 4096;
/// Messages that the page shows.
const SHOWN: usize = 20;

/// The messages, the newest first, and how many there were.
#[derive(Default)]
struct Received {
    latest: VecDeque<String>,
    count: u64,
}

/// The page, which answers until it is stopped.
pub struct DemoPage {
    address: SocketAddr,
    server: ServerHandle,
}

impl DemoPage {
    /// On any free port.
    pub fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let received = Data::new(Mutex::new(Received::default()));
        let app = move || {
            let app = App::new().app_data(received.clone()).app_data(PayloadConfig::new(MOST_BYTES));
            app.route("/", web::get().to(show)).route("/", web::post().to(receive))
        };
        let server = HttpServer::new(app).workers(1).disable_signals().listen(listener)?.run();
        let handle = server.handle();
        tokio::spawn(server);
        Ok(Self { address, server: handle })
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    pub async fn stop(self) {
        self.server.stop(false).await;
    }

    /// The job that calls it each minute.
    pub fn job(&self) -> JobDraft {
        let is_received = Test { path: "/ok".to_owned(), op: Op::Eq(json!(true)) };
        let request = HttpDraft {
            body: r#"{"minute": "{{scheduled_at|%H:%M}}", "run": {{run_id}}}"#.to_owned(),
            expect: ExpectDraft { body: Some(is_received), ..ExpectDraft::default() },
            ..HttpDraft::new(self.url())
        };
        JobDraft {
            key: KEY.to_owned(),
            http: Some(request),
            schedule: ScheduleDraft::cron("0 * * * * ?", "UTC"),
            description: "An HTTP job: the node sends the request itself, with the minute and the number of the run in its body. \
                          The page at its URL shows what has arrived."
                .to_owned(),
            tags: tags(&["http"]),
            ..JobDraft::new(APP, NAME, "")
        }
    }
}

async fn receive(received: Data<Mutex<Received>>, message: String) -> HttpResponse {
    let mut received = received.lock();
    received.latest.truncate(SHOWN - 1);
    received.latest.push_front(message);
    received.count += 1;
    HttpResponse::Ok().json(json!({"ok": true, "received": received.count}))
}

/// Plain text: a message may be anything.
async fn show(received: Data<Mutex<Received>>) -> HttpResponse {
    let received = received.lock();
    let mut text = format!("{} messages of the job “{NAME}”, the latest first:\n", received.count);
    for message in &received.latest {
        text.push('\n');
        text.push_str(message);
    }
    text.push('\n');
    let mut answer = HttpResponse::Ok();
    answer.content_type("text/plain; charset=utf-8").insert_header(("X-Content-Type-Options", "nosniff")).body(text)
}
