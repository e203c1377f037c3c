//! Rows made wrong behind the product's back.

use crate::cluster::database::Database;
use crate::record::Job;

/// A zone that does not exist, an expression that never fires again, parameters of 10 MB.
pub async fn poison(database: &Database, jobs: &[Job]) -> anyhow::Result<()> {
    for job in jobs {
        let statement = match job.group.as_str() {
            "bad_zone" => replace(job.id, "UTC", "Mars/Olympus"),
            "no_next" => replace(job.id, "0 * * * * ?", "0 0 0 31 2 ?"),
            "large" => format!("UPDATE job_params SET params = '{}' WHERE job_id = {}", "x".repeat(10 << 20), job.id),
            _ => continue,
        };
        database.execute(&statement).await?;
    }
    Ok(())
}

fn replace(job: i64, from: &str, to: &str) -> String {
    format!("UPDATE job SET schedule_text = REPLACE(schedule_text, '{from}', '{to}') WHERE id = {job}")
}
