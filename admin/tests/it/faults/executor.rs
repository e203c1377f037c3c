//! A stock executor that keeps books: it answers at once, calls back in batches, and repeats until it was answered.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use carillon_scheduler::Millis;
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::api::{client, now};

/// Results of one callback.
const BATCH: usize = 500;
const HEARTBEAT: Duration = Duration::from_secs(1);

/// One request to run something.
#[derive(Clone, Debug)]
pub struct Receipt {
    pub run_id: i64,
    pub fire_key: String,
    pub scheduled_at: Millis,
    pub received_at: Millis,
    /// No answer was given.
    pub hung: bool,
}

/// What a run's result is: every tenth fails.
pub fn result_of(run_id: i64) -> (i32, String) {
    let code = if run_id % 10 == 0 { 500 } else { 200 };
    (code, format!("the result of {run_id}"))
}

#[derive(Default)]
struct Books {
    receipts: Mutex<Vec<Receipt>>,
    outbox: Mutex<Vec<i64>>,
    /// Results that were answered 200.
    acknowledged: Mutex<HashMap<i64, Millis>>,
    hangs: AtomicBool,
}

/// Stops calling and registering when it is dropped.
pub struct Executor {
    books: Arc<Books>,
    _stop: DropGuard,
}

impl Executor {
    /// Registers, and waits until that was taken. Of several admins the first that accepts is enough.
    pub async fn start(admins: &[String], token: &str, app: &str) -> Self {
        let books = Arc::new(Books::default());
        let address = serve(books.clone());
        let stop = CancellationToken::new();
        let line = Line::new(admins, token);
        let me = json!({"registryGroup": "EXECUTOR", "registryKey": app, "registryValue": address});
        assert!(line.post("api/registry", &me).await, "registered");
        let (beating, calling) = (line.clone(), books.clone());
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            loop {
                tokio::time::sleep(HEARTBEAT).await;
                beating.post("api/registry", &me).await;
            }
        }));
        tokio::spawn(stop.clone().run_until_cancelled_owned(call_back(calling, line)));
        Self { books, _stop: stop.drop_guard() }
    }

    /// From now on it accepts connections, reads requests and never answers.
    pub fn hang(&self) {
        self.books.hangs.store(true, Ordering::SeqCst);
    }

    pub fn receipts(&self) -> Vec<Receipt> {
        self.books.receipts.lock().unwrap().clone()
    }

    /// What was never answered.
    pub fn hung(&self) -> Vec<Receipt> {
        let mut receipts = self.receipts();
        receipts.retain(|receipt| receipt.hung);
        receipts
    }

    pub fn count(&self) -> usize {
        self.books.receipts.lock().unwrap().len()
    }

    /// The runs whose results were answered 200.
    pub fn acknowledged(&self) -> HashMap<i64, Millis> {
        self.books.acknowledged.lock().unwrap().clone()
    }
}

fn serve(books: Arc<Books>) -> String {
    let shared = web::Data::from(books);
    let server = HttpServer::new(move || App::new().app_data(shared.clone()).default_service(web::to(answer)));
    let server = server.workers(1).disable_signals().shutdown_timeout(0).bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", server.addrs()[0]);
    tokio::spawn(server.run());
    address
}

async fn answer(request: HttpRequest, body: web::Bytes, books: web::Data<Books>) -> HttpResponse {
    if request.path() == "/run" {
        let run: Value = serde_json::from_slice(&body).unwrap();
        let header = |name: &str| request.headers().get(name).unwrap().to_str().unwrap().to_owned();
        let (run_id, hung) = (run["logId"].as_i64().unwrap(), books.hangs.load(Ordering::SeqCst));
        books.receipts.lock().unwrap().push(Receipt {
            run_id,
            fire_key: header("Carillon-Fire-Key"),
            scheduled_at: header("Carillon-Scheduled-At").parse().unwrap(),
            received_at: now(),
            hung,
        });
        if hung {
            return std::future::pending().await;
        }
        books.outbox.lock().unwrap().push(run_id);
    }
    HttpResponse::Ok().json(json!({"code": 200}))
}

async fn call_back(books: Arc<Books>, line: Line) {
    loop {
        let batch: Vec<i64> = {
            let mut outbox = books.outbox.lock().unwrap();
            let size = outbox.len().min(BATCH);
            outbox.drain(..size).collect()
        };
        if batch.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        }
        let results = batch.iter().map(|id| {
            let (code, text) = result_of(*id);
            json!({"logId": id, "logDateTim": 0, "handleCode": code, "handleMsg": text})
        });
        let results = results.collect::<Value>();
        while !line.post("api/callback", &results).await {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let now = now();
        let mut acknowledged = books.acknowledged.lock().unwrap();
        acknowledged.extend(batch.into_iter().map(|id| (id, now)));
    }
}

/// The way to the admins.
#[derive(Clone)]
struct Line {
    http: reqwest::Client,
    admins: Vec<String>,
    token: String,
}

impl Line {
    fn new(admins: &[String], token: &str) -> Self {
        Self { http: client(Duration::from_secs(3)), admins: admins.to_vec(), token: token.to_owned() }
    }

    /// Was it answered with code 200 by one of them?
    async fn post(&self, path: &str, body: &Value) -> bool {
        for admin in &self.admins {
            let call = self.http.post(format!("{admin}/{path}")).header("XXL-JOB-ACCESS-TOKEN", &self.token).json(body);
            if let Ok(response) = call.send().await {
                let answer: Value = response.json().await.unwrap_or_default();
                if answer["code"] == 200 {
                    return true;
                }
            }
        }
        false
    }
}
