//! Executors that only send heartbeats, as those of xxl-job do: each every 30 s, evenly spread.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use carillon_testkit::{AdminClient, ApiClient};
use serde_json::json;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until};

const HEARTBEAT: Duration = Duration::from_secs(30);
/// The limit of one app.
const OF_ONE_APP: usize = 1_000;
/// Each sends for its share of the executors.
const TASKS: usize = 10;

pub struct IdleExecutors {
    tasks: Vec<AbortHandle>,
    refused: Arc<AtomicU64>,
}

impl IdleExecutors {
    /// Registers all of them, and goes on with their heartbeats.
    pub async fn start(api: &ApiClient, admin: &AdminClient, count: usize) -> Self {
        for app in 0..count.div_ceil(OF_ONE_APP) {
            api.post("apps", json!({"name": app_name(app)})).await.ok();
        }
        let refused = Arc::<AtomicU64>::default();
        let beats = |task| tokio::spawn(heartbeats(admin.clone(), count, task, refused.clone())).abort_handle();
        let tasks = (0..TASKS).map(beats).collect();
        tokio::time::sleep(HEARTBEAT).await;
        Self { tasks, refused }
    }

    /// Heartbeats that were not taken so far.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub fn stop(&self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

fn app_name(number: usize) -> String {
    format!("idle-{number}")
}

async fn heartbeats(admin: AdminClient, count: usize, task: usize, refused: Arc<AtomicU64>) {
    let mut round_at = Instant::now();
    loop {
        for executor in (task..count).step_by(TASKS) {
            sleep_until(round_at + HEARTBEAT.mul_f64(executor as f64 / count as f64)).await;
            let address = format!("http://10.{}.{}.{}:9999/", executor >> 16, executor >> 8 & 255, executor & 255);
            if !admin.register(&app_name(executor / OF_ONE_APP), &address).await {
                refused.fetch_add(1, Ordering::Relaxed);
            }
        }
        round_at += HEARTBEAT;
        sleep_until(round_at).await;
    }
}
