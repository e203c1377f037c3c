//! `carillon explain`: the story of one instant of one job.

use carillon_admin::config::{Error, LogFormat};
use carillon_inspect::explain::explain;
use carillon_scheduler::{Clock as _, Millis, SystemClock};
use chrono::DateTime;
use clap::Args;

use super::logging;
use super::settings::DatabaseSettings;

#[derive(Args)]
pub struct Wish {
    /// The job's number
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    job: i64,
    /// RFC 3339 with any offset, such as 2025-07-04T15:00:00+02:00
    #[arg(value_parser = instant)]
    instant: Millis,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// A job that is not there.
#[derive(Debug, thiserror::Error)]
#[error("there is no job {0}, and nothing of it at this instant")]
pub struct Refused(i64);

pub async fn run(wish: Wish) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let database = wish.database.database().map_err(Error::from)?;
    let store = super::user::open_to_look(&database).await?;
    let now = match store.database_now().await? {
        Some(now) => now,
        None => SystemClock::new().now(),
    };
    let found = explain(&store, wish.job, wish.instant, now).await?;
    for line in found.ok_or(Refused(wish.job))?.sentences() {
        println!("{line}");
    }
    Ok(())
}

fn instant(text: &str) -> Result<Millis, String> {
    let wrong = || format!("`{text:.64}` is no time; write RFC 3339, such as 2025-07-04T15:00:00+02:00");
    let time = DateTime::parse_from_rfc3339(text.trim()).map_err(|_| wrong())?;
    Ok(time.timestamp_millis())
}
