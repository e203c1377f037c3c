//! `carillon import xxl-job`.

use std::io::{self, Write};

use carillon_import::xxl_job::{self, ImportOptions, ImportPlan, Imported, Report, Source, meaning};
use carillon_scheduler::{Clock as _, SystemClock};
use carillon_store::Actor;
use clap::Args;
use serde_json::json;

use super::source_args::{SourceArgs, usage};
use crate::cli::arguments::counted;
use crate::cli::settings::DatabaseSettings;
use crate::cli::{database, logging};
use crate::config::LogFormat;

#[derive(Args)]
pub struct ImportArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// The time zone of the JVM of xxl-job, which decides over its cron expressions; the shipped image has PRC
    #[arg(long, value_name = "ZONE")]
    zone: String,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Count an instant as missed when it is late by more than 5 s, as xxl-job does, instead of 60 s
    #[arg(long)]
    exact: bool,
    /// Make its accounts too, without passwords: each needs `carillon user link NAME`
    #[arg(long)]
    users: bool,
    /// Import script jobs too, with their present sources; who may write scripts in xxl-job decides what runs on the executors here
    #[arg(long)]
    scripts: bool,
    /// Import although another zone fits more of what xxl-job has planned
    #[arg(long)]
    trust_zone: bool,
    /// Of jobs that were changed both there and here since the last import, let what is here count
    #[arg(long)]
    keep_here: bool,
    /// One JSON object instead of text for people
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

pub async fn run(args: ImportArgs) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let store = match args.dry_run {
        true => database::open_read_only(&args.database).await?,
        false => database::open(&args.database).await?,
    };
    let source = args.source.read().await?;
    let now = SystemClock::new().now();
    let options = ImportOptions {
        zone: args.zone,
        exact: args.exact,
        scripts: args.scripts,
        users: args.users,
        trust_zone: args.trust_zone,
        keep_here: args.keep_here,
        now,
    };
    let plan = ImportPlan::make(&source, &store, &options).await.map_err(usage)?;
    let done = match args.dry_run {
        true => None,
        false => Some(xxl_job::import(&plan, &store, &Actor::cli(), now).await.map_err(usage)?),
    };
    let mut out = io::stdout().lock();
    match args.json {
        true => writeln!(out, "{}", as_json(&source, &plan, done.as_ref()))?,
        false => print(&mut out, &source, &plan, done.as_ref())?,
    }
    Ok(())
}

fn print(out: &mut impl Write, source: &Source, plan: &ImportPlan, done: Option<&Imported>) -> io::Result<()> {
    let jobs = source.jobs.len();
    let (apps, users) = (counted(source.groups.len(), "group"), counted(source.users.len(), "account"));
    let (releases, all) = (plan.shape.releases(), counted(jobs, "job"));
    writeln!(out, "xxl-job {releases} ({}): {apps}, {all}, {users}", plan.source)?;
    let mut live: Vec<String> = source.live.iter().map(|(app, count)| format!("{count} as {app}")).collect();
    live.sort_unstable();
    if !live.is_empty() {
        writeln!(out, "executors that are registered there: {}", live.join(", "))?;
    }
    writeln!(out, "time zone: {} of {} running cron jobs agree", plan.zone.agree, plan.zone.of)?;
    let left = jobs - plan.new.len() - plan.changed.len() - plan.unchanged;
    let (new, changed, unchanged) = (plan.new.len(), plan.changed.len(), plan.unchanged);
    writeln!(out, "jobs: {new} new, {changed} changed, {unchanged} unchanged, {left} left alone or not imported")?;
    if !plan.users.is_empty() {
        let names: Vec<&str> = plan.users.iter().map(|user| user.name.as_str()).collect();
        writeln!(out, "accounts: {}; give each a link with `carillon user link NAME`", names.join(", "))?;
    }
    writeln!(out, "\n{}", plan.report)?;
    out.write_all(NOTES.as_bytes())?;
    match done {
        None => writeln!(out, "Nothing was written: this was a dry run."),
        Some(done) => {
            let (apps, jobs) = (counted(done.apps, "app"), counted(done.created, "job"));
            let (changed, users) = (counted(done.changed, "job"), counted(done.users, "account"));
            writeln!(out, "Done: {apps}, {jobs} and {users} made, {changed} changed.")?;
            if done.refused.findings().next().is_some() {
                writeln!(out, "Refused on the way:\n{}", done.refused)?;
            }
            let (next, wait) = (
                done.next_run_id,
                "nodes that are running use up smaller numbers for a minute: let executors come after that",
            );
            writeln!(out, "Runs go on with the number {next}; {wait}.")?;
            writeln!(
                out,
                "New jobs are paused; `carillon cutover APP` enables those that ran in xxl-job, once they are stopped there."
            )
        }
    }
}

/// What holds for all jobs.
const NOTES: &str = "\
What is different for all jobs:
- A run without an executor fails after a second, and an alert can tell; there it fails at once.
- BUSYOVER waits up to the misfire threshold for an idle executor; there it fails at once. FIRST and LAST pass over a full executor.
- A run by hand without parameters gets the job's own; there it gets none.
- A result that is lost is found by asking the executor; there after ten minutes.
- A time-out is also enforced by the node, one minute later. The first retry leaves at once.
- Each fire has a record. There a full trigger pool drops fires in silence, so numbers may rise.

";

fn as_json(source: &Source, plan: &ImportPlan, done: Option<&Imported>) -> serde_json::Value {
    let refused = done.map(|done| &done.refused);
    let findings = plan.report.findings().chain(refused.into_iter().flat_map(Report::findings)).map(|(code, rows)| {
        let rows: Vec<_> = rows.iter().map(|row| json!({"of": row.of, "text": row.text})).collect();
        json!({"code": code, "meaning": meaning(code), "rows": rows})
    });
    json!({
        "source": plan.source,
        "releases": plan.shape.releases(),
        "jobs_there": source.jobs.len(),
        "zone": {"agree": plan.zone.agree, "of": plan.zone.of},
        "jobs": {"new": plan.new.len(), "changed": plan.changed.len(), "unchanged": plan.unchanged},
        "findings": findings.collect::<Vec<_>>(),
        "done": done.map(|done| json!({
            "apps": done.apps, "jobs": done.created, "changed": done.changed, "accounts": done.users, "next_run_id": done.next_run_id,
        })),
    })
}
