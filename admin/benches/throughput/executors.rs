//! Executors of one app that accept runs at once and report their results in lists, as the SDK does.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use carillon_testkit::{AdminClient, Callback, Receipt, RecordingExecutor, Reply, wait_for};

/// As executors of our SDK register; those of xxl-job do so each 30 s.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// A node reads all registrations once a second.
const REGISTERED: Duration = Duration::from_millis(1500);

pub struct Executors {
    all: Vec<RecordingExecutor>,
    /// The code of each result.
    code: Arc<AtomicI32>,
}

impl Executors {
    /// Every run succeeds. Each executor prefers another one of the admins, as their results are work too.
    pub async fn start(admins: &[AdminClient], app: &str, count: usize) -> Self {
        let mut executors = Self { all: vec![], code: Arc::new(AtomicI32::new(200)) };
        for admin in admins.iter().cycle().take(count) {
            let (executor, code) = (RecordingExecutor::start().await, executors.code.clone());
            executor.forget_calls();
            wait_for("executors may register", async || admin.register(app, &executor.address).await).await;
            executor.register_each(HEARTBEAT, admin, app).await;
            executor.report(admin, move |_| (code.load(Ordering::Relaxed), String::new()));
            executors.all.push(executor);
        }
        tokio::time::sleep(REGISTERED).await;
        executors
    }

    pub fn reply(&self, reply: &Reply) {
        self.all.iter().for_each(|executor| executor.reply(reply.clone()));
    }

    /// From now on every run fails.
    pub fn fail(&self) {
        self.code.store(500, Ordering::Relaxed);
    }

    /// What they have received since the last call. Receipts of half an hour would need more memory than the admin.
    pub fn take_receipts(&self) -> Vec<Receipt> {
        self.all.iter().flat_map(RecordingExecutor::take_receipts).collect()
    }

    pub fn receipts(&self) -> Vec<Receipt> {
        self.all.iter().flat_map(RecordingExecutor::receipts).collect()
    }

    pub fn callbacks(&self) -> Vec<Callback> {
        self.all.iter().flat_map(RecordingExecutor::callbacks).collect()
    }
}
