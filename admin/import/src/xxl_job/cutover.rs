//! One app changes over: its jobs run here once they are stopped there, or the other way round. A job that is enabled on both sides
//! fires twice.

use carillon_scheduler::Millis;
use carillon_store::import::origins::Origin;
use carillon_store::{Actor, App, Job, JobFilter, Store};
use foldhash::{HashMap, HashSet};

use super::error::Error;
use super::jobs::{RAN, row_digest};
use super::rows::JobRow;
use super::source::Source;

/// What was switched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cutover {
    /// Jobs that were switched, by name.
    pub switched: Vec<String>,
    /// Those of them that have no schedule here: they do not fire.
    pub without_schedule: Vec<String>,
    /// Jobs that were imported and were so already, or did not run there.
    pub others: usize,
    /// Script jobs among those that were switched.
    pub with_script: Vec<String>,
    /// After the way back: enabled jobs of the app that did not come from there.
    pub still_enabled: Vec<String>,
    /// Jobs of the app there that were not imported, by their numbers.
    pub not_imported: Vec<i64>,
    /// Executors of the app that are registered here.
    pub executors: usize,
}

/// A job that was imported.
struct ImportedJob {
    source_id: i64,
    digest: String,
    job: Job,
}

async fn imported(store: &Store, source: &str, app: &str) -> Result<(App, Vec<ImportedJob>), Error> {
    let found = store.apps().by_name(app).await?;
    let app = found.ok_or_else(|| Error::Input(format!("there is no app `{app}` here")))?;
    let mut jobs = vec![];
    for Origin { source_id, job_id, digest, .. } in store.imports().origins(source).await? {
        if let Some(job) = store.jobs().get(job_id).await?.filter(|job| job.app_id == app.id) {
            jobs.push(ImportedJob { source_id, digest, job });
        }
    }
    match jobs.is_empty() {
        true => Err(Error::Input(format!("no job of app `{}` was imported from {source}", app.name))),
        false => Ok((app, jobs)),
    }
}

/// Enables the jobs of an app that ran there: those with the tag `ran-in-xxl`. `open_too`: also while runs there have no result yet.
///
/// # Errors
/// `Input`: a job of the app still runs there, a run has no result, or a job was changed there since its import; nothing is enabled.
pub async fn cut_over(
    source: &Source,
    store: &Store,
    app: &str,
    open_too: bool,
    (by, now): (&Actor, Millis),
) -> Result<Cutover, Error> {
    let (app, jobs) = imported(store, &source.name, app).await?;
    let groups: HashSet<i64> = source.groups.iter().filter(|it| it.app == app.name).map(|it| it.id).collect();
    let of_app: Vec<&JobRow> = source.jobs.iter().filter(|row| groups.contains(&row.group)).collect();
    refuse_any(of_app.iter().filter(|row| row.is_running), "still to be stopped in xxl-job; stop these first")?;
    if !open_too {
        let open = of_app.iter().filter(|row| source.open_runs.contains_key(&row.id));
        refuse_any(open, "with runs without a result in xxl-job; wait for these, or leave them with --open-too")?;
    }
    let rows: HashMap<i64, &JobRow> = source.jobs.iter().map(|row| (row.id, row)).collect();
    let is_outdated =
        |row: &&&JobRow| jobs.iter().any(|job| job.source_id == row.id && !job.digest.starts_with(&row_digest(row)));
    refuse_any(of_app.iter().filter(is_outdated), "changed in xxl-job since the import; import again first")?;
    let imported: HashSet<i64> = jobs.iter().map(|job| job.source_id).collect();
    let not_imported = of_app.iter().map(|row| row.id).filter(|id| !imported.contains(id)).collect();
    // A job that is deleted there stays as it is.
    let is_wanted = |it: &ImportedJob| {
        let ran = it.job.draft.tags.iter().any(|tag| tag == RAN);
        ran && !it.job.draft.enabled && rows.contains_key(&it.source_id)
    };
    let done = switch_all(store, &app, jobs, (is_wanted, true), (by, now)).await?;
    Ok(Cutover { not_imported, ..done })
}

/// Jobs that are still enabled and are named.
const MOST_NAMED: u32 = 100;

fn refuse_any<'a>(rows: impl Iterator<Item = &'a &'a JobRow>, what: &str) -> Result<(), Error> {
    let list: Vec<String> = rows.map(|row| row.id.to_string()).collect();
    match list.is_empty() {
        true => Ok(()),
        false => {
            let jobs = if list.len() == 1 { "1 job".to_owned() } else { format!("{} jobs", list.len()) };
            Err(Error::Input(format!("{jobs} of the app {what}: {}", list.join(", "))))
        }
    }
}

/// Disables all jobs of an app that were imported.
///
/// # Errors
/// `Input`: there is no such app, or nothing was imported into it.
pub async fn go_back(source: &str, store: &Store, app: &str, (by, now): (&Actor, Millis)) -> Result<Cutover, Error> {
    let (app, jobs) = imported(store, source, app).await?;
    let mut done = switch_all(store, &app, jobs, (|it: &ImportedJob| it.job.draft.enabled, false), (by, now)).await?;
    let filter = JobFilter { app: Some(app.name), enabled: Some(true), limit: MOST_NAMED, ..JobFilter::default() };
    let enabled = store.jobs().list(&filter).await?.items;
    done.still_enabled = enabled.iter().map(|job| format!("{} ({})", job.draft.name, job.id)).collect();
    Ok(done)
}

async fn switch_all(
    store: &Store,
    app: &App,
    jobs: Vec<ImportedJob>,
    (is_wanted, enabled): (impl Fn(&ImportedJob) -> bool, bool),
    (by, now): (&Actor, Millis),
) -> Result<Cutover, Error> {
    let (wanted, others): (Vec<_>, Vec<_>) = jobs.into_iter().partition(is_wanted);
    let mut done = Cutover { others: others.len(), ..Cutover::default() };
    for ImportedJob { job, .. } in wanted {
        store.jobs().set_enabled(job.id, enabled, now, by).await?;
        let name = format!("{} ({})", job.draft.name, job.id);
        if job.draft.script.is_some() {
            done.with_script.push(name.clone());
        }
        if job.draft.schedule.kind() == "none" {
            done.without_schedule.push(name.clone());
        }
        done.switched.push(name);
    }
    let executors = store.apps().executors_of(&app.name).await?;
    done.executors = executors.iter().filter(|executor| executor.is_live(now)).count();
    Ok(done)
}
