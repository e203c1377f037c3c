//! How far the scans are behind: a job is claimed when its next instant is nearer than `claim_within` (half of the look-ahead, at
//! least 2 s). The lag is now + `claim_within` − the earliest instant that is not recorded yet. A scan each second leaves up to
//! a second of it; an instant is recorded late when the lag exceeds `claim_within`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use carillon_engine::{Options as EngineOptions, Settings};
use carillon_testkit::now_ms;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};
use tokio::task::JoinHandle;

use crate::options::Options;
use crate::report::shares;
use crate::trial::Trial;

const EACH: Duration = Duration::from_millis(200);

/// Looks until it is printed.
pub struct ScanLag {
    looking: JoinHandle<()>,
    /// In ms.
    seen: Arc<Mutex<Vec<f64>>>,
    claim_within: f64,
}

impl ScanLag {
    pub async fn start(trial: &Trial, options: &Options) -> Self {
        let db = trial.database.connect(&trial.data_folder(), "ro").await;
        let seen = Arc::<Mutex<Vec<f64>>>::default();
        let claim_within = claim_within_ms(options.look_ahead);
        let earliest = earliest(options.shards);
        let looking = tokio::spawn({
            let seen = seen.clone();
            async move {
                loop {
                    if let Some(next) = first_unrecorded(&db, &earliest).await {
                        let lag = now_ms() + claim_within - next;
                        seen.lock().unwrap().push(lag.max(0) as f64);
                    }
                    tokio::time::sleep(EACH).await;
                }
            }
        });
        Self { looking, seen, claim_within: claim_within as f64 }
    }

    pub fn print(self) {
        self.looking.abort();
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        let count = seen.len();
        let [p50, p99, max] = shares(seen);
        println!("scan lag p50/p99/max   {p50:.0} / {p99:.0} / {max:.0} ms  ({count} looks)");
        println!("recorded ahead of due  {:.0} ms at least", self.claim_within - max);
    }
}

/// As the engine derives it from its options.
fn claim_within_ms(look_ahead: u64) -> i64 {
    let options = EngineOptions { look_ahead: Duration::from_secs(look_ahead), ..EngineOptions::default() };
    Settings::from_options(&options).claim_within.as_millis() as i64
}

/// One look at the beginning of each shard; a minimum over all would walk the whole table.
fn earliest(shards: u64) -> String {
    let of_shard = |shard| format!("SELECT MIN(next_fire_at) AS at FROM job_clock WHERE shard = {shard}");
    let each: Vec<String> = (0..shards).map(of_shard).collect();
    format!("SELECT MIN(at) FROM ({}) AS first", each.join(" UNION ALL "))
}

async fn first_unrecorded(db: &DatabaseConnection, text: &str) -> Option<i64> {
    let statement = Statement::from_string(db.get_database_backend(), text);
    db.query_one_raw(statement).await.unwrap()?.try_get_by_index(0).unwrap()
}
