//! An executor that answers at once and calls back in lists, as the SDK does.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use actix_web::{App, HttpResponse, HttpServer, web};
use carillon_protocol::RunRequest;
use serde_json::{Value, json};

/// One request: run, job, due time, and when it arrived, in ms.
#[derive(Clone, Copy)]
pub struct Receipt {
    pub run_id: i64,
    pub job_id: i32,
    pub due_at: i64,
    pub at: i64,
}

/// A callback: when it left, and how long its answer took, in ms.
#[derive(Clone, Copy)]
pub struct Called {
    pub at: i64,
    pub took: f64,
}

struct Book {
    /// Of each result.
    code: AtomicI32,
    receipts: Mutex<Vec<Receipt>>,
    results: Mutex<Vec<Value>>,
    called: Mutex<Vec<Called>>,
}

impl Book {
    fn of(code: i32) -> Arc<Self> {
        Arc::new(Self {
            code: AtomicI32::new(code),
            receipts: Mutex::default(),
            results: Mutex::default(),
            called: Mutex::default(),
        })
    }
}

pub struct Executor(Arc<Book>);

/// Where executors register, and with what token.
pub struct Admin {
    pub url: String,
    pub token: String,
}

/// The node stores a registration with its next round and reads all registrations once a second.
const REGISTERED: Duration = Duration::from_millis(1500);

impl Executor {
    /// Every run succeeds. All addresses write into one book.
    pub async fn start(admin: &Admin, app: &str, addresses: usize) -> Self {
        let book = Book::of(200);
        for _ in 0..addresses {
            Self::open(admin, app, &book);
        }
        tokio::time::sleep(REGISTERED).await;
        Self(book)
    }

    fn open(admin: &Admin, app: &str, book: &Arc<Book>) {
        let shared = web::Data::from(book.clone());
        let server = HttpServer::new(move || {
            App::new()
                .app_data(shared.clone())
                .route("/run", web::post().to(run))
                .default_service(web::to(HttpResponse::Ok))
        })
        .workers(1)
        .disable_signals()
        .bind(("127.0.0.1", 0))
        .unwrap();
        let address = format!("http://{}/", server.addrs()[0]);
        tokio::spawn(server.run());
        live(admin, book.clone(), app, &address);
    }

    /// From now on every run fails.
    pub fn fail(&self) {
        self.0.code.store(500, Ordering::Relaxed);
    }

    pub fn now(&self) -> i64 {
        now()
    }

    pub fn received(&self) -> Vec<Receipt> {
        self.0.receipts.lock().unwrap().clone()
    }

    pub fn called(&self) -> Vec<Called> {
        self.0.called.lock().unwrap().clone()
    }
}

#[expect(clippy::disallowed_methods, reason = "lateness is measured against the wall clock, as a user would")]
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as i64
}

/// An address of the app `flood` that takes every request and answers none.
pub async fn hang(admin: &Admin) {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut taken = vec![];
        while let Ok((stream, _)) = listener.accept().await {
            taken.push(stream);
        }
    });
    live(admin, Book::of(200), "flood", &address);
    tokio::time::sleep(REGISTERED).await;
}

fn live(admin: &Admin, book: Arc<Book>, app: &str, address: &str) {
    let registration = json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address});
    tokio::spawn(call_back(book, admin.url.clone(), admin.token.clone(), registration));
}

async fn run(body: web::Bytes, book: web::Data<Book>) -> HttpResponse {
    let at = now();
    let request: RunRequest = serde_json::from_slice(&body).unwrap();
    let receipt = Receipt { run_id: request.log_id, job_id: request.job_id, due_at: request.log_date_time, at };
    book.receipts.lock().unwrap().push(receipt);
    let result = json!({"logId": request.log_id, "logDateTim": request.log_date_time, "handleCode": book.code.load(Ordering::Relaxed), "handleMsg": null});
    book.results.lock().unwrap().push(result);
    HttpResponse::Ok().content_type("application/json").body(r#"{"code":200,"msg":null,"content":null,"data":null}"#)
}

/// Results every 10 ms, at most 500 at once; a heartbeat every 10 s.
async fn call_back(book: Arc<Book>, url: String, token: String, registration: Value) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for round in 0u64.. {
        if round % 1000 == 0 {
            let call =
                client.post(format!("{url}/api/registry")).header("XXL-JOB-ACCESS-TOKEN", &token).json(&registration);
            drop(call.send().await);
        }
        let results: Vec<Value> = {
            let mut waiting = book.results.lock().unwrap();
            let count = waiting.len().min(500);
            waiting.drain(..count).collect()
        };
        if results.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        }
        let call = client.post(format!("{url}/api/callback")).header("XXL-JOB-ACCESS-TOKEN", &token).json(&results);
        let (at, begun) = (now(), std::time::Instant::now());
        let is_answered = call.send().await.is_ok_and(|answer| answer.status() == 200);
        let took = begun.elapsed().as_secs_f64() * 1000.0;
        book.called.lock().unwrap().push(Called { at, took });
        if !is_answered {
            book.results.lock().unwrap().extend(results);
        }
    }
}
