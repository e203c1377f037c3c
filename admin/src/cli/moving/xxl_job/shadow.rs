//! `carillon shadow`: what xxl-job plans, beside what the imported jobs would do.

use std::time::{Duration, Instant};

use carillon_import::xxl_job::{Observation, Shadow, Verdict};
use carillon_scheduler::{Clock as _, Millis, Schedule, SystemClock};
use carillon_store::Store;
use clap::Args;
use foldhash::HashMap;
use serde_json::json;

use super::source_args::{SourceArgs, numbers};
use crate::cli::arguments::{InvalidInput, counted, format_time};
use crate::cli::settings::DatabaseSettings;
use crate::cli::{database, logging};
use crate::config::LogFormat;

#[derive(Args)]
pub struct ShadowArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// How long to look, such as 5m or 24h
    #[arg(long = "for", value_name = "TIME", default_value = "5m", value_parser = humantime::parse_duration)]
    span: Duration,
    /// One JSON object a line instead of text for people
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// Ends the command with exit code 1.
#[derive(Debug, thiserror::Error)]
#[error("instants in xxl-job that differ from those here, and that nothing explains: {0}")]
struct Unexplained(usize);

/// The same.
#[derive(Debug, thiserror::Error)]
#[error(
    "xxl-job has stood still, so there was nothing to compare; jobs whose instant has passed by more than a minute: {0}"
)]
struct StandsStill(usize);

pub async fn run(args: ShadowArgs) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let store = database::open_read_only(&args.database).await?;
    let end = Instant::now().checked_add(args.span);
    let end = end.ok_or_else(|| InvalidInput("--for: the time is too long".to_owned()))?;
    let source = args.source.read().await?;
    let schedules = schedules(&store, &source.name).await?;
    if schedules.is_empty() {
        return Err(InvalidInput(format!("nothing was imported from {} that has a schedule", source.name)).into());
    }
    let db = args.source.connect().await?;
    let (clock, mut shadow, mut outage) = (SystemClock::new(), Shadow::default(), None);
    let mut counts: HashMap<&str, usize> = HashMap::default();
    loop {
        // The pool connects again at the next look.
        let rows = match db.read_jobs(source.shape).await {
            Ok(rows) => {
                if outage.take().is_some() {
                    eprintln!("the database of xxl-job answers again");
                }
                rows
            }
            Err(error) => {
                if outage.is_none() {
                    eprintln!("{error}; this command goes on and connects again");
                }
                outage = Some(error);
                vec![]
            }
        };
        for seen in shadow.observe(&rows, &schedules, clock.now()) {
            *counts.entry(seen.verdict.as_str()).or_default() += 1;
            if args.json || seen.verdict != Verdict::Agrees {
                println!("{}", if args.json { as_json(&seen) } else { line(&seen) });
            }
        }
        if Instant::now() + EVERY > end {
            break;
        }
        tokio::time::sleep(EVERY).await;
    }
    if let Some(error) = outage {
        return Err(error.into());
    }
    db.close().await?;
    if !args.json {
        let of = |verdict: &Verdict| Some(format!("{}: {}", verdict.as_str(), counts.get(verdict.as_str())?));
        let list: Vec<String> = Verdict::ALL.iter().filter_map(of).collect();
        let list = if list.is_empty() { "nothing was planned meanwhile".to_owned() } else { list.join(", ") };
        println!("{} with a schedule; {list}", counted(schedules.len(), "job"));
    }
    let of = |verdict: Verdict| counts.get(verdict.as_str()).copied().unwrap_or(0);
    match (of(Verdict::Unexplained), of(Verdict::Overdue)) {
        (0, 0) => Ok(()),
        (0, overdue) => Err(StandsStill(overdue).into()),
        (count, _) => Err(Unexplained(count).into()),
    }
}

/// Of the jobs that were imported, by their numbers there.
async fn schedules(store: &Store, source: &str) -> anyhow::Result<HashMap<i64, Schedule>> {
    let mut schedules = HashMap::default();
    for (job_id, source_id) in numbers(store, source).await? {
        let schedule = store.jobs().get(job_id).await?.and_then(|job| job.schedule().ok());
        schedules.extend(schedule.filter(|schedule| schedule.first_after(0).is_some()).map(|it| (source_id, it)));
    }
    Ok(schedules)
}

fn line(seen: &Observation) -> String {
    let time = |at: Millis| if at > 0 { format_time(at) } else { "none".to_owned() };
    let here = seen.expected_at.map_or_else(|| "none".to_owned(), format_time);
    format!(
        "job {}: {}; after {} xxl-job plans {}, here {here}",
        seen.id,
        seen.verdict.as_str(),
        time(seen.last_at),
        time(seen.next_at)
    )
}

fn as_json(seen: &Observation) -> String {
    let Observation { id, verdict, last_at, next_at, expected_at } = seen;
    json!({"job": id, "verdict": verdict.as_str(), "last_at": last_at, "next_at": next_at, "expected_at": expected_at})
        .to_string()
}
