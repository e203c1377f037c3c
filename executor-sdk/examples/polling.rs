//! A loop: one executor polls a device five times a second by itself, as long as an admin renews its lease.
//!
//! `CARILLON_ACCESS_TOKEN=… cargo run -p carillon-executor --example polling`, with the admin's token; the address of the
//! admin is `CARILLON_ADMIN`, by default `http://127.0.0.1:8080`. Start it once more with another `CARILLON_DATA_DIR`, and end the one that polls. The job:
//!
//! ```text
//! curl -H "Authorization: Bearer $CARILLON_API_TOKEN" -H 'Content-Type: application/json' http://127.0.0.1:8080/api/v1/jobs -d '
//!   {"app": "polling", "name": "poll", "handler": "poll", "durability": "best_effort",
//!    "schedule": {"kind": "fixed_rate", "milliseconds": 200}}'
//! ```

use std::env;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use carillon_executor::{JobContext, JobError};

#[path = "settings/mod.rs"]
mod settings;

/// What is polled. It refuses readers of an earlier grant: one that was paused does not know that another has taken over.
#[derive(Default)]
struct Device {
    epoch: Mutex<i64>,
}

impl Device {
    fn read(&self, epoch: i64) -> Result<f64, JobError> {
        let mut highest = self.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        if epoch < *highest {
            return Err(JobError::new(format!("epoch {epoch} is over, {highest} has begun")));
        }
        *highest = epoch;
        Ok(21.5)
    }
}

/// Of `<job>:loop:<epoch>:<instant>`. The key of a run that was started by hand has none.
fn epoch(key: &str) -> Option<i64> {
    let (_, rest) = key.split_once(":loop:")?;
    rest.split(':').next()?.parse().ok()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let data = env::var("CARILLON_DATA_DIR").unwrap_or("carillon-executor-data/polling".to_owned());
    let device = Arc::new(Device::default());
    let executor = settings::from_environment()?
        .app("polling")
        .data_dir(data)
        .job("poll", move |ctx: JobContext| {
            let device = device.clone();
            async move {
                let epoch = ctx.fire_key().and_then(epoch).ok_or_else(|| JobError::new("not in a loop"))?;
                Ok::<_, JobError>(format!("epoch {epoch}: {} degrees", device.read(epoch)?))
            }
        })
        .build()?;
    println!("polling: waiting for the loop at {}", executor.handle().address());
    executor.run(settings::stop_signal()).await?;
    Ok(())
}
