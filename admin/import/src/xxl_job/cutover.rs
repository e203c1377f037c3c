//! One app changes over: its jobs run here once they are stopped there, or the other way round. A job that is enabled on both sides
//! fires twice.

use carillon_scheduler::Millis;
use carillon_store::{Actor, App, Job, Store};
use foldhash::HashMap;

use super::error::Error;
use super::rows::JobRow;
use super::source::Source;

/// What was switched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cutover {
    /// Jobs that were switched, by name.
    pub switched: Vec<String>,
    /// Jobs that were imported and were so already, or did not run there.
    pub others: usize,
    /// Executors of the app that are registered here.
    pub executors: usize,
}

/// A job that was imported.
struct ImportedJob {
    source_id: i64,
    was_running: bool,
    job: Job,
}

async fn imported(store: &Store, source: &str, app: &str) -> Result<(App, Vec<ImportedJob>), Error> {
    let found = store.apps().by_name(app).await?;
    let app = found.ok_or_else(|| Error::Input(format!("there is no app `{app}` here")))?;
    let mut jobs = vec![];
    for origin in store.imports().origins(source).await? {
        if let Some(job) = store.jobs().get(origin.job_id).await?.filter(|job| job.app_id == app.id) {
            jobs.push(ImportedJob { source_id: origin.source_id, was_running: origin.was_running, job });
        }
    }
    match jobs.is_empty() {
        true => Err(Error::Input(format!("no job of app `{}` was imported from {source}", app.name))),
        false => Ok((app, jobs)),
    }
}

/// Enables the jobs of an app that ran there. `open_too`: also while runs there have no result yet.
///
/// # Errors
/// `Input`: a job of the app still runs there, or a run has no result; nothing is enabled.
pub async fn cut_over(
    source: &Source,
    store: &Store,
    app: &str,
    open_too: bool,
    (by, now): (&Actor, Millis),
) -> Result<Cutover, Error> {
    let (app, jobs) = imported(store, &source.name, app).await?;
    let rows: HashMap<i64, &JobRow> = source.jobs.iter().map(|row| (row.id, row)).collect();
    let there = |job: &&ImportedJob| rows.get(&job.source_id).is_some_and(|row| row.is_running);
    let running: Vec<String> = jobs.iter().filter(there).map(|job| job.source_id.to_string()).collect();
    if !running.is_empty() {
        let text = format!(
            "{} jobs of the app still run in xxl-job; stop them there first: {}",
            running.len(),
            running.join(", ")
        );
        return Err(Error::Input(text));
    }
    let is_open = |job: &&ImportedJob| source.open_runs.contains_key(&job.source_id);
    let open: Vec<String> = jobs.iter().filter(is_open).map(|job| job.source_id.to_string()).collect();
    if !open.is_empty() && !open_too {
        let text = "runs of these jobs have no result in xxl-job yet; wait for them, or leave them with --open-too";
        return Err(Error::Input(format!("{text}: {}", open.join(", "))));
    }
    let switch = |it: &ImportedJob| it.was_running && !it.job.draft.enabled;
    switch_all(store, &app, jobs, (switch, true), (by, now)).await
}

/// Disables all jobs of an app that were imported.
///
/// # Errors
/// `Input`: there is no such app, or nothing was imported into it.
pub async fn go_back(source: &str, store: &Store, app: &str, (by, now): (&Actor, Millis)) -> Result<Cutover, Error> {
    let (app, jobs) = imported(store, source, app).await?;
    switch_all(store, &app, jobs, (|it: &ImportedJob| it.job.draft.enabled, false), (by, now)).await
}

async fn switch_all(
    store: &Store,
    app: &App,
    jobs: Vec<ImportedJob>,
    (is_wanted, enabled): (impl Fn(&ImportedJob) -> bool, bool),
    (by, now): (&Actor, Millis),
) -> Result<Cutover, Error> {
    let (wanted, others): (Vec<_>, Vec<_>) = jobs.into_iter().partition(is_wanted);
    let mut switched = vec![];
    for ImportedJob { job, .. } in wanted {
        store.jobs().set_enabled(job.id, enabled, now, by).await?;
        switched.push(format!("{} ({})", job.draft.name, job.id));
    }
    let executors = store.apps().executors_of(&app.name).await?;
    let executors = executors.iter().filter(|executor| executor.is_live(now)).count();
    Ok(Cutover { switched, others: others.len(), executors })
}
