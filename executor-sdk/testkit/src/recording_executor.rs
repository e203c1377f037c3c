use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use carillon_protocol::{BatchRun, RunBatch, headers};
use tokio::task::JoinSet;

use crate::admin_client::AdminClient;
use crate::clock::now_ms;
use crate::http_stub::{Call, HttpStub, Reply};
use crate::port::ReservedPort;

const HEARTBEAT: Duration = Duration::from_secs(1);
/// Between two looks for results to report.
const PAUSE: Duration = Duration::from_millis(10);
/// After a report that no admin accepted.
const RETRY: Duration = Duration::from_millis(100);
/// Results of one report.
const BATCH: usize = 500;

/// One request to run something.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// The run.
    pub run_id: i64,
    /// Its job.
    pub job_id: i32,
    /// The instant of the schedule, in milliseconds since 1970: the header `Carillon-Scheduled-At`.
    pub scheduled_at: i64,
    /// When this attempt was due.
    pub due_at: i64,
    /// The header `Carillon-Fire-Key`.
    pub fire_key: String,
    /// In milliseconds since 1970.
    pub received_at: i64,
    /// Whether it was answered.
    pub answered: bool,
}

/// One request that reports results.
#[derive(Clone, Debug)]
pub struct Callback {
    /// In milliseconds since 1970.
    pub sent_at: i64,
    /// Until its answer came.
    pub took: Duration,
    /// The runs, if an admin accepted it.
    pub acknowledged: Vec<i64>,
}

#[derive(Default)]
struct Runs {
    receipts: Vec<Receipt>,
    /// Accepted, not reported.
    outbox: Vec<i64>,
    callbacks: Vec<Callback>,
    forgets_calls: bool,
}

/// An executor that executes nothing: it records what it receives and answers as the test chooses. It ends with this value.
pub struct RecordingExecutor {
    /// As it is registered.
    pub address: String,
    stub: HttpStub,
    runs: Arc<Mutex<Runs>>,
    tasks: Mutex<JoinSet<()>>,
    /// Kept after [`RecordingExecutor::die`]: no other test's server may get this one's runs.
    _port: ReservedPort,
}

impl RecordingExecutor {
    /// Accepts everything, registers nowhere and reports nothing.
    pub async fn start() -> Self {
        let (port, runs) = (ReservedPort::new(), Arc::<Mutex<Runs>>::default());
        let stub = HttpStub::start(port.listen(), {
            let runs = runs.clone();
            move |call, reply| runs.lock().unwrap().record(call, reply)
        });
        Self { address: stub.address.clone(), stub, runs, tasks: Mutex::default(), _port: port }
    }

    /// Keeps receipts alone from now on, for a load of many runs.
    pub fn forget_calls(&self) {
        self.runs.lock().unwrap().forgets_calls = true;
    }

    /// From now on connections are refused, and those that are open are closed.
    pub async fn stop(&self) {
        self.stub.stop().await;
    }

    /// How requests are answered, if not as below.
    pub fn reply(&self, reply: Reply) {
        self.stub.reply(reply);
    }

    /// How requests to this path are answered, such as `/idleBeat`.
    pub fn reply_to(&self, path: &str, reply: Reply) {
        self.stub.reply_to(path, reply);
    }

    /// How the probes `/beat` and `/idleBeat` are answered.
    pub fn reply_to_probes(&self, reply: Reply) {
        self.reply_to("/beat", reply.clone());
        self.reply_to("/idleBeat", reply);
    }

    /// How `/log` is answered for one run.
    pub fn reply_to_log_of(&self, run_id: i64, reply: Reply) {
        self.stub.reply_to_log_of(run_id, reply);
    }

    /// Requests to this path.
    pub fn received(&self, path: &str) -> Vec<Call> {
        self.stub.calls.borrow().iter().filter(|call| call.path == path).cloned().collect()
    }

    /// Requests to `/run`.
    pub fn runs(&self) -> Vec<Call> {
        self.received("/run")
    }

    /// Runs received by `/run` and `/runs`, in short.
    pub fn receipts(&self) -> Vec<Receipt> {
        self.runs.lock().unwrap().receipts.clone()
    }

    /// The same since the last call, for a load over a long time: they are kept no longer, and neither are the reports of results.
    pub fn take_receipts(&self) -> Vec<Receipt> {
        let mut runs = self.runs.lock().unwrap();
        runs.callbacks.clear();
        std::mem::take(&mut runs.receipts)
    }

    /// How many runs it has received.
    pub fn run_count(&self) -> usize {
        self.runs.lock().unwrap().receipts.len()
    }

    /// The runs that were never answered.
    pub fn unanswered(&self) -> Vec<Receipt> {
        self.receipts().into_iter().filter(|receipt| !receipt.answered).collect()
    }

    /// The runs whose results an admin has accepted.
    pub fn acknowledged(&self) -> Vec<i64> {
        self.callbacks().into_iter().flat_map(|callback| callback.acknowledged).collect()
    }

    /// Reports of results so far.
    pub fn callbacks(&self) -> Vec<Callback> {
        self.runs.lock().unwrap().callbacks.clone()
    }

    /// Registers, and repeats it each second.
    ///
    /// # Panics
    /// No admin accepts it.
    pub async fn register(&self, admin: &AdminClient, app: &str) {
        self.register_each(HEARTBEAT, admin, app).await;
    }

    /// Registers, and repeats it after this time again and again.
    ///
    /// # Panics
    /// No admin accepts it.
    pub async fn register_each(&self, heartbeat: Duration, admin: &AdminClient, app: &str) {
        assert!(admin.register(app, &self.address).await, "registered");
        let (admin, app, address) = (admin.clone(), app.to_owned(), self.address.clone());
        self.tasks.lock().unwrap().spawn(async move {
            loop {
                tokio::time::sleep(heartbeat).await;
                admin.register(&app, &address).await;
            }
        });
    }

    /// Reports the result of each accepted run at once, as `(code, text)`, until an admin accepts it.
    pub fn report(&self, admin: &AdminClient, result: impl Fn(i64) -> (i32, String) + Send + 'static) {
        let (admin, runs) = (admin.clone(), self.runs.clone());
        self.tasks.lock().unwrap().spawn(async move {
            loop {
                let batch: Vec<i64> = {
                    let outbox = &mut runs.lock().unwrap().outbox;
                    let size = outbox.len().min(BATCH);
                    outbox.drain(..size).collect()
                };
                if batch.is_empty() {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                let results = batch.iter().map(|run_id| {
                    let (code, text) = result(*run_id);
                    (*run_id, code, text)
                });
                let results: Vec<_> = results.collect();
                loop {
                    let (sent_at, begun) = (now_ms(), Instant::now());
                    let accepted = admin.report(&results).await;
                    let acknowledged = if accepted { batch.clone() } else { vec![] };
                    let callback = Callback { sent_at, took: begun.elapsed(), acknowledged };
                    runs.lock().unwrap().callbacks.push(callback);
                    if accepted {
                        break;
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        });
    }

    /// From now on connections are refused, and it calls no admin.
    pub async fn die(&self) {
        drop(std::mem::take(&mut *self.tasks.lock().unwrap()));
        self.stub.stop().await;
    }
}

impl Runs {
    /// Whether to keep the whole call.
    fn record(&mut self, call: &Call, reply: &Reply) -> bool {
        let runs = match &*call.path {
            "/run" => vec![alone(call)],
            "/runs" => serde_json::from_str::<RunBatch>(&call.body).unwrap().runs,
            _ => return !self.forgets_calls,
        };
        for BatchRun { run, fire_key, scheduled_at, .. } in runs {
            self.receipts.push(Receipt {
                run_id: run.log_id,
                job_id: run.job_id,
                scheduled_at,
                due_at: run.log_date_time,
                fire_key,
                received_at: call.received_at,
                answered: !matches!(reply, Reply::Never),
            });
            if matches!(reply, Reply::Accept) {
                self.outbox.push(run.log_id);
            }
        }
        !self.forgets_calls
    }
}

/// A run that did not come in a batch.
fn alone(call: &Call) -> BatchRun {
    BatchRun {
        run: serde_json::from_str(&call.body).unwrap(),
        fire_key: call.header(headers::FIRE_KEY).unwrap_or_default().to_owned(),
        scheduled_at: call.header(headers::SCHEDULED_AT).and_then(|it| it.parse().ok()).unwrap_or_default(),
        phase: call.header(headers::PHASE).map(str::to_owned),
        ..BatchRun::default()
    }
}
