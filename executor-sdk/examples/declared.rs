//! Jobs that the code declares: what they are called, when they fire, what runs after what.
//!
//! `CARILLON_ACCESS_TOKEN=… cargo run -p carillon-executor --example declared`, with the admin's token; the address of the
//! admin is `CARILLON_ADMIN`, by default `http://127.0.0.1:8080`.

use std::error::Error;

use carillon_executor::{JobContext, JobError, Json, job, log};
use serde::{Deserialize, Serialize};

#[path = "settings/mod.rs"]
mod settings;

#[derive(Deserialize)]
#[serde(default)]
struct Import {
    rows: u32,
}

impl Default for Import {
    fn default() -> Self {
        Self { rows: 100 }
    }
}

#[derive(Serialize)]
struct Imported {
    rows: u32,
}

/// Without parameters it imports 100 rows; with `{"rows": 7}`, seven.
#[job(name = "import", cron = "0 0/5 * * * ?", timezone = "Europe/Berlin", retries = 2, timeout = "5m")]
async fn import(ctx: &JobContext, params: Import) -> Result<Json<Imported>, JobError> {
    log!(ctx, "importing {} rows", params.rows);
    Ok(Json(Imported { rows: params.rows }))
}

#[job(name = "report", title = "Report of the import", after = "import")]
async fn report(ctx: &JobContext) -> Result<String, JobError> {
    Ok(format!("report of {}", ctx.params()))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let executor = settings::from_environment()?.app("declared").build()?;
    for job in executor.declared() {
        println!("declared: {} ({}:{})", job.key, job.file, job.line);
    }
    executor.run(settings::stop_signal()).await?;
    Ok(())
}
