//! How far the scans are behind their look-ahead: now + look-ahead − the earliest instant that is not recorded yet. A scan each
//! second leaves up to a second of it; an instant is recorded late when it is more than the look-ahead.

// covers: 000-5

use std::sync::{Arc, Mutex};
use std::time::Duration;

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
    look_ahead: f64,
}

impl ScanLag {
    pub async fn start(trial: &Trial, options: &Options) -> Self {
        let db = trial.database.connect(&trial.data_folder(), "ro").await;
        let (seen, look_ahead) = (Arc::<Mutex<Vec<f64>>>::default(), options.look_ahead * 1000);
        let earliest = earliest(options.shards);
        let looking = tokio::spawn({
            let seen = seen.clone();
            async move {
                loop {
                    if let Some(next) = first_unrecorded(&db, &earliest).await {
                        let lag = now_ms() + look_ahead as i64 - next;
                        seen.lock().unwrap().push(lag.max(0) as f64);
                    }
                    tokio::time::sleep(EACH).await;
                }
            }
        });
        Self { looking, seen, look_ahead: look_ahead as f64 }
    }

    pub fn print(self) {
        self.looking.abort();
        let seen = std::mem::take(&mut *self.seen.lock().unwrap());
        let count = seen.len();
        let [p50, p99, max] = shares(seen);
        println!("scan lag p50/p99/max   {p50:.0} / {p99:.0} / {max:.0} ms  ({count} looks)");
        println!("recorded ahead of due  {:.0} ms at least", self.look_ahead - max);
    }
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
