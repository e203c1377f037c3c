//! `carillon export xxl-job`.

use std::io::{self, Write as _};

use carillon_import::xxl_job::{Known, export};
use carillon_scheduler::zone_data;
use carillon_store::{Job, VisibleApps};
use clap::Args;
use foldhash::HashMap;

use crate::cli::arguments::{InvalidInput, counted};
use crate::cli::settings::DatabaseSettings;
use crate::cli::{database, logging};
use crate::config::LogFormat;

#[derive(Args)]
pub struct ExportArgs {
    /// The name under which the jobs were imported: that of xxl-job's database, unless --source gave another one
    #[arg(long, value_name = "NAME")]
    source: String,
    /// The time zone of the JVM of xxl-job
    #[arg(long, value_name = "ZONE")]
    zone: String,
    /// Only these apps; may be given several times
    #[arg(long = "app", value_name = "NAME")]
    apps: Vec<String>,
    /// Also jobs that came from xxl-job and were not changed here since their last import
    #[arg(long)]
    all: bool,
    /// With script jobs, and their present sources
    #[arg(long)]
    scripts: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

pub async fn run(args: ExportArgs) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let store = database::open_read_only(&args.database).await?;
    let zone = zone_data().zone(&args.zone).map(|zone| zone.current_name());
    let zone = zone.ok_or_else(|| InvalidInput(format!("--zone: `{}` is no time zone", args.zone)))?;
    let mut apps = store.apps().list(&VisibleApps::All).await?;
    if let Some(unknown) = args.apps.iter().find(|name| apps.iter().all(|app| app.name != **name)) {
        return Err(InvalidInput(format!("--app: there is no app `{unknown}`")).into());
    }
    apps.retain(|app| args.apps.is_empty() || args.apps.contains(&app.name));
    let mut jobs: Vec<Job> = vec![];
    for id in store.runs().all_job_ids().await? {
        jobs.extend(store.jobs().get(id).await?);
    }
    let origins = store.imports().origins(&args.source).await?;
    let numbers = origins.iter().map(|origin| (origin.job_id, origin.source_id)).collect();
    let stored = origins.into_iter().filter(|_| !args.all);
    let stored = stored.filter_map(|origin| Some((origin.job_id, origin.stored_digest?))).collect();
    let mut sources = HashMap::default();
    for job in jobs.iter().filter(|_| args.scripts) {
        if let Some(version) = job.draft.script.as_ref().and_then(|script| script.version)
            && let Some(source) = store.jobs().script_source(job.id, version).await?
        {
            sources.insert(job.id, source);
        }
    }
    let exported = export(&apps, &jobs, &Known { numbers: &numbers, stored: &stored, sources: &sources, zone });
    let mut out = io::stdout().lock();
    out.write_all(exported.sql.as_bytes())?;
    // The file is on standard output.
    eprintln!("{} written", counted(exported.jobs, "job"));
    if exported.unchanged > 0 {
        let unchanged = counted(exported.unchanged, "job");
        eprintln!("{unchanged} left out, as nothing was changed here since their last import (--all writes them too)");
    }
    list("xxl-job cannot hold", &exported.left_out);
    list("xxl-job holds less of", &exported.changed);
    Ok(())
}

fn list(what: &str, jobs: &[(i64, String)]) {
    if !jobs.is_empty() {
        eprintln!("{what} {}:", counted(jobs.len(), "job"));
    }
    for (id, why) in jobs {
        eprintln!("  job {id}: {why}");
    }
}
