//! What an import would do: rows mapped, and compared with what was imported before.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::job::limits::JOB_IDS;
use carillon_scheduler::{JobDraft, Millis, RouteStrategy, zone_data};
use carillon_store::import::origins::Origin;
use carillon_store::{App, Calendars, Definition, DefinitionContext, Job, Store};
use foldhash::{HashMap, HashSet};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::apps::{MappedApp, map_apps};
use super::children::map_children;
use super::error::Error;
use super::jobs::{JobMapping, MappedJob};
use super::report::Report;
use super::shape::Shape;
use super::source::Source;
use super::users::{MappedUser, map_users};
use super::zone_proof::{ZoneProof, prove};

/// How rows are read.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The zone of the JVM there.
    pub zone: String,
    /// xxl-job's own misfire threshold of 5 s.
    pub exact: bool,
    /// Accounts too.
    pub users: bool,
    pub now: Millis,
}

/// What an import would do.
#[derive(Clone, Debug)]
pub struct ImportPlan {
    pub source: String,
    pub shape: Shape,
    pub zone: ZoneProof,
    pub report: Report,
    /// All apps that jobs are imported into.
    pub apps: Vec<MappedApp>,
    /// Jobs that are not here yet.
    pub new: Vec<MappedJob>,
    /// Jobs that have changed there since, and not here.
    pub changed: Vec<(Job, MappedJob)>,
    pub unchanged: usize,
    /// Of each job that is imported, by the numbers there.
    pub children: BTreeMap<i64, Vec<i64>>,
    pub users: Vec<MappedUser>,
    /// The ids of runs go on above this one.
    pub run_ids_above: i64,
}

/// Executors keep results of runs that xxl-job starts before the cut-over.
const RUN_IDS_APART: i64 = 100_000_000;

impl ImportPlan {
    /// # Errors
    /// `Input`: the zone is none, or another one fits what xxl-job has planned.
    pub async fn make(source: &Source, store: &Store, options: &ImportOptions) -> Result<Self, Error> {
        let zone = zone_data().zone(&options.zone).map(|zone| zone.current_name());
        let zone = zone.ok_or_else(|| Error::Input(format!("--zone: `{}` is no time zone", options.zone)))?;
        let mut report = Report::default();
        let proof = prove(&source.jobs, zone, &mut report);
        if let Some((better, count)) = &proof.better {
            let (agree, of) = (proof.agree, proof.of);
            return Err(Error::Input(format!(
                "--zone: {agree} of {of} running cron jobs are planned by {zone}, {count} by {better}: give the time zone of the JVM"
            )));
        }
        let apps = map_apps(&source.groups, &mut report);
        let (mapped, children) =
            map_all(source, &apps, &JobMapping { zone, exact: options.exact, now: options.now }, &mut report);
        report_addresses(source, &mapped, &mut report);
        let users = if options.users { map_users(&source.users, &apps, store, &mut report).await? } else { vec![] };
        // Of several groups with one name the first gives the title.
        let groups = source.groups.iter().rev().filter_map(|group| apps.get(&group.id));
        let wanted: BTreeMap<&str, &MappedApp> = groups.map(|app| (app.name.as_str(), app)).collect();
        let mut plan = Self {
            source: source.name.clone(),
            shape: source.shape,
            zone: proof,
            report,
            apps: wanted.into_values().cloned().collect(),
            new: vec![],
            changed: vec![],
            unchanged: 0,
            children,
            users,
            run_ids_above: source.last_log_id + RUN_IDS_APART,
        };
        plan.compare(source, store, mapped).await?;
        Ok(plan)
    }

    async fn compare(&mut self, source: &Source, store: &Store, mapped: Vec<MappedJob>) -> Result<(), Error> {
        let origins = store.imports().origins(&source.name).await?;
        let there: HashSet<i64> = source.jobs.iter().map(|row| row.id).collect();
        for origin in origins.iter().filter(|origin| !there.contains(&origin.source_id)) {
            self.report.add("L2", format!("job {}", origin.source_id), format!("job {} here", origin.job_id));
        }
        let next = store.imports().next_job_id().await?;
        let source_ids: HashMap<i64, i64> = origins.iter().map(|origin| (origin.job_id, origin.source_id)).collect();
        let origins: HashMap<i64, Origin> = origins.into_iter().map(|origin| (origin.source_id, origin)).collect();
        for mut job in mapped {
            let of = format!("job {}", job.id);
            let Some(origin) = origins.get(&job.id) else {
                self.check_keys(store, &mut job).await?;
                self.report_number(&job, next);
                self.new.push(job);
                continue;
            };
            let here = store.jobs().get(origin.job_id).await?;
            let digest = digest(&job.draft, self.children_of(job.id));
            match (here, &origin.stored_digest) {
                // The import has ended between the two.
                (None, None) => self.new.push(job),
                (None, Some(_)) => self.report.add("L3", of, format!("job {} here", origin.job_id)),
                (Some(_), Some(_)) if digest == origin.digest => self.unchanged += 1,
                (Some(here), stored) => {
                    let is_as_imported =
                        stored.as_ref().is_none_or(|stored| *stored == stored_digest(&here, &source_ids));
                    match is_as_imported {
                        true => self.changed.push((here, job)),
                        false => self.report.add("L1", of, format!("job {} here", origin.job_id)),
                    }
                }
            }
        }
        Ok(())
    }

    async fn check_keys(&mut self, store: &Store, job: &mut MappedJob) -> Result<(), Error> {
        let Some(app) = store.apps().by_name(&job.draft.app).await? else {
            return Ok(());
        };
        if let Some(other) = store.jobs().id_with_key(app.id, &job.draft.key).await? {
            let text = format!("{} is the key of job {other} here", job.draft.key);
            self.report.add("I2", format!("job {}", job.id), text);
            job.draft.key.clear();
        }
        Ok(())
    }

    /// Whether it keeps its number.
    fn report_number(&mut self, job: &MappedJob, next: i64) {
        if job.id >= next && JOB_IDS.contains(&job.id) {
            return;
        }
        let of = format!("job {}", job.id);
        self.report.add("I1", &of, "");
        if job.draft.route == RouteStrategy::ConsistentHash {
            self.report.add("R2", of, "");
        }
    }

    /// By the numbers there.
    pub(super) fn children_of(&self, id: i64) -> &[i64] {
        self.children.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// What is imported, with the children of each.
fn map_all(
    source: &Source,
    apps: &HashMap<i64, MappedApp>,
    mapping: &JobMapping<'_>,
    report: &mut Report,
) -> (Vec<MappedJob>, BTreeMap<i64, Vec<i64>>) {
    let groups: HashSet<i64> = source.groups.iter().map(|group| group.id).collect();
    let (mut mapped, mut lists) = (vec![], BTreeMap::new());
    for row in &source.jobs {
        if !groups.contains(&row.group) {
            report.add("J2", format!("job {}", row.id), &row.name);
            continue;
        }
        let Some(job) = mapping.map(row, apps.get(&row.group), report) else {
            continue;
        };
        match check(&job.draft, mapping.now) {
            Ok(()) => {
                lists.insert(row.id, row.children.clone());
                mapped.push(job);
            }
            Err(why) => report.add("J1", format!("job {}", row.id), why),
        }
    }
    let children = map_children(&lists, report);
    let named: BTreeSet<i64> = children.values().flatten().copied().collect();
    for job in &mapped {
        let of = format!("job {}", job.id);
        if job.draft.route == RouteStrategy::Broadcast && children.get(&job.id).is_some_and(|list| !list.is_empty()) {
            report.add("K3", &of, "");
        }
        if named.contains(&job.id) && job.draft.params.is_empty() {
            report.add("K4", of, "");
        }
    }
    (mapped, children)
}

/// What is wrong with it, whatever its app and its children are.
fn check(draft: &JobDraft, now: Millis) -> Result<(), String> {
    let app = App { id: 0, name: draft.app.clone(), title: String::new(), created_at: 0, own_tokens_only: false };
    let checked = Definition::check_in(DefinitionContext::new(&app, &Calendars::default()), draft, now);
    let all = |errors: Vec<carillon_scheduler::FieldError>| {
        let texts: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
        texts.join("; ")
    };
    checked.map(drop).map_err(all)
}

/// One rule of alerts for each list of addresses.
fn report_addresses(source: &Source, mapped: &[MappedJob], report: &mut Report) {
    let imported: HashSet<i64> = mapped.iter().map(|job| job.id).collect();
    let mut lists: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in source.jobs.iter().filter(|row| imported.contains(&row.id) && !row.alarm_email.is_empty()) {
        let mut addresses: Vec<&str> = row.alarm_email.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
        addresses.sort_unstable();
        lists.entry(addresses.join(" ")).or_default().push(row.id.to_string());
    }
    for (addresses, jobs) in lists {
        report.add("A1", addresses, format!("jobs {}", jobs.join(", ")));
    }
}

/// Of a definition whose children are named by their numbers there. Whether it is enabled is a matter of people, and
/// its key may be taken here.
pub(super) fn digest(draft: &JobDraft, children: &[i64]) -> String {
    let draft = JobDraft { enabled: true, children: vec![], key: String::new(), ..draft.clone() };
    let digest = Sha256::digest(json!([draft, children]).to_string());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The same of a job as it is stored. `source_ids`: the numbers there, by those here; a child of another origin counts with the negative
/// of its own.
pub(super) fn stored_digest(job: &Job, source_ids: &HashMap<i64, i64>) -> String {
    let children: Vec<i64> = job.draft.children.iter().map(|id| source_ids.get(id).copied().unwrap_or(-id)).collect();
    digest(&JobDraft { schedule: job.full_schedule(), ..job.draft.clone() }, &children)
}
