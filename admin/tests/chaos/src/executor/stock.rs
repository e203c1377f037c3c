//! A stock executor behind the tap: one queue a job, a run's id is known only while it is queued or runs, results are
//! repeated until an admin takes them, and a kill loses all of it. Logs of runs are on the disk.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use carillon_testkit::AdminClient;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Arguments, tap, work};
use crate::record::event::EventLog;
use crate::record::{Event, What};

const HEARTBEAT: Duration = Duration::from_secs(5);
const TOKEN: &str = "XXL-JOB-ACCESS-TOKEN";

struct Stock {
    events: Arc<EventLog>,
    token: String,
    logs: PathBuf,
    queues: Mutex<HashMap<i64, UnboundedSender<Value>>>,
    /// Queued, not started: the only ids that it still knows.
    queued: Mutex<HashSet<i64>>,
    outbox: UnboundedSender<(i64, i64)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub async fn run(arguments: &Arguments, admins: Vec<String>, events: Arc<EventLog>) -> anyhow::Result<()> {
    let (outbox, results) = unbounded_channel();
    let logs = arguments.data.join("logs");
    std::fs::create_dir_all(&logs)?;
    let stock = Arc::new(Stock {
        events: events.clone(),
        token: arguments.token.clone(),
        logs,
        queues: Mutex::default(),
        queued: Mutex::default(),
        outbox,
    });
    let shared = web::Data::from(stock);
    let server = HttpServer::new(move || {
        App::new().app_data(shared.clone()).app_data(web::PayloadConfig::new(5 << 20)).default_service(web::to(answer))
    })
    .workers(1)
    .disable_signals()
    .shutdown_timeout(0)
    .bind(("127.0.0.1", 0))?;
    let inner = format!("http://{}", server.addrs()[0]);
    tokio::spawn(server.run());
    tap::inbound(events, arguments, inner)?;

    let admin = AdminClient::new(admins, &arguments.token);
    tokio::spawn(call_back(admin.clone(), results));
    let beats = tokio::spawn(beat(admin.clone(), arguments.apps.clone(), arguments.advertise.clone()));
    super::stop_signal().await;
    beats.abort();
    for app in &arguments.apps {
        admin.deregister(app, &arguments.advertise).await;
    }
    Ok(())
}

async fn answer(request: HttpRequest, body: web::Bytes, stock: web::Data<Stock>) -> HttpResponse {
    let token = request.headers().get(TOKEN);
    if token.is_none_or(|token| token.as_bytes() != stock.token.as_bytes()) {
        return fail("The access token is wrong.");
    }
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let run = asked["logId"].as_i64().unwrap_or_default();
    match request.path() {
        "/run" if asked["executorHandler"] != "work" => fail("job handler not found."),
        "/run" if !lock(&stock.queued).insert(run) => fail(&format!("repeate trigger job, logId:{run}")),
        "/run" => {
            stock.into_inner().enqueue(asked);
            HttpResponse::Ok().json(json!({"code": 200}))
        }
        "/log" => stock.log(run),
        _ => HttpResponse::Ok().json(json!({"code": 200})),
    }
}

fn fail(message: &str) -> HttpResponse {
    HttpResponse::Ok().json(json!({"code": 500, "msg": message}))
}

impl Stock {
    fn enqueue(self: &Arc<Self>, run: Value) {
        let job = run["jobId"].as_i64().unwrap_or_default();
        let mut queues = lock(&self.queues);
        let queue = queues.entry(job).or_insert_with(|| {
            let (queue, mut runs) = unbounded_channel();
            let stock = self.clone();
            tokio::spawn(async move {
                while let Some(run) = runs.recv().await {
                    stock.work(&run).await;
                }
            });
            queue
        });
        let _ = queue.send(run);
    }

    async fn work(&self, asked: &Value) {
        let run = asked["logId"].as_i64().unwrap_or_default();
        lock(&self.queued).remove(&run);
        let event = |what, code| Event {
            what,
            code,
            run,
            job: asked["jobId"].as_i64().unwrap_or_default(),
            ..Event::default()
        };
        self.events.write(event(What::Start, 0));
        let _ = std::fs::write(self.logs.join(format!("{run}.log")), "started\n");
        let work = work::of(run, asked["executorParams"].as_str().unwrap_or_default());
        tokio::time::sleep(work.takes).await;
        let code = if work.succeeds { 200 } else { 500 };
        self.events.write(event(What::End, code));
        let _ = self.outbox.send((run, code));
    }

    /// As xxl-job answers: a page, or a refusal where there is no file.
    fn log(&self, run: i64) -> HttpResponse {
        match std::fs::read_to_string(self.logs.join(format!("{run}.log"))) {
            Ok(text) => HttpResponse::Ok().json(json!({"code": 200, "content": {
                "fromLineNum": 1, "toLineNum": 1, "logContent": text, "isEnd": false}})),
            Err(_) => HttpResponse::Ok().json(json!({"code": 200, "content": {
                "fromLineNum": 1, "toLineNum": 0, "logContent": "readLog fail, logFile not exists", "isEnd": true}})),
        }
    }
}

async fn beat(admin: AdminClient, apps: Vec<String>, address: String) {
    loop {
        for app in &apps {
            admin.register(app, &address).await;
        }
        tokio::time::sleep(HEARTBEAT).await;
    }
}

async fn call_back(admin: AdminClient, mut results: UnboundedReceiver<(i64, i64)>) {
    let mut batch = Vec::new();
    while results.recv_many(&mut batch, 50).await > 0 {
        let item = |(run, code): (i64, i64)| (run, code as i32, format!("result of {run}"));
        let list: Vec<_> = batch.drain(..).map(item).collect();
        while !admin.report(&list).await {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}
