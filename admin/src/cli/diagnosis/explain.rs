//! `carillon explain`: the story of one instant of one job.

use crate::config::LogFormat;
use carillon_inspect::explain::explain;
use carillon_locale::Language;
use carillon_scheduler::Millis;
use carillon_store::VisibleApps;
use clap::Args;

use crate::cli::arguments::{InvalidInput, time};
use crate::cli::settings::DatabaseSettings;
use crate::cli::{database, logging};

#[derive(Args)]
pub struct ExplainArgs {
    /// The job's number
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    job: i64,
    /// RFC 3339 with any offset, such as 2025-07-04T15:00:00+02:00
    #[arg(value_parser = time)]
    instant: Millis,
    #[command(flatten)]
    database: DatabaseSettings,
}

pub async fn run(args: ExplainArgs) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let store = database::open_read_only(&args.database).await?;
    let now = database::now(&store).await?;
    let missing = || InvalidInput(format!("there is no job {}, and nothing of it at this instant", args.job));
    let found = explain(&store, args.job, args.instant, now, &VisibleApps::All).await?;
    for line in found.ok_or_else(missing)?.sentences(Language::English) {
        println!("{line}");
    }
    Ok(())
}
