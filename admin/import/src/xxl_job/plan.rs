//! What an import would do: rows mapped, and compared with what was imported before.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::{FieldError, JobDraft, Millis, RouteStrategy, zone_data};
use carillon_store::import::origins::{Origin, StoredOrigin, is_kept_id};
use carillon_store::{App, Calendars, Definition, DefinitionContext, Job, Store};
use foldhash::{HashMap, HashSet};

use super::apps::{MappedApp, map_apps};
use super::children::map_children;
use super::error::Error;
use super::export::made_here;
use super::jobs::{JobMapping, MappedJob, RAN, stored_digest};
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
    /// Script jobs too.
    pub scripts: bool,
    /// Accounts too.
    pub users: bool,
    /// Another zone may fit more of what is planned there.
    pub trust_zone: bool,
    /// What is here counts for jobs that were changed there and here.
    pub keep_here: bool,
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
    /// Jobs that were changed there and stay as they are here.
    pub kept: Vec<StoredOrigin>,
    /// Of each job that is imported, by the numbers there.
    pub children: BTreeMap<i64, Vec<i64>>,
    pub users: Vec<MappedUser>,
    /// Apps, each with one that starts its jobs.
    pub starters: Vec<(String, String)>,
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
        if let Some((better, count)) = proof.better.as_ref().filter(|_| !options.trust_zone) {
            let (agree, of) = (proof.agree, proof.of);
            return Err(Error::Input(format!(
                "--zone: {agree} of {of} running cron jobs are planned by {zone}, {count} by {better}: give the time zone of the JVM, or --trust-zone"
            )));
        }
        let apps = map_apps(&source.groups, &mut report);
        let (mapped, children) = map_all(
            source,
            &apps,
            &JobMapping { zone, exact: options.exact, scripts: options.scripts, now: options.now },
            &mut report,
        );
        report_addresses(source, &mapped, &mut report);
        let links = foreign_links(&mapped, &children).into_iter();
        let starters = links.map(|(parent, child)| (child.draft.app.clone(), parent.draft.app.clone())).collect();
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
            kept: vec![],
            children,
            users,
            starters,
            run_ids_above: source.last_log_id + RUN_IDS_APART,
        };
        plan.compare(source, store, mapped, options.keep_here).await?;
        Ok(plan)
    }

    async fn compare(
        &mut self,
        source: &Source,
        store: &Store,
        mapped: Vec<MappedJob>,
        keep_here: bool,
    ) -> Result<(), Error> {
        let origins = store.imports().origins(&source.name).await?;
        let there: HashSet<i64> = source.jobs.iter().map(|row| row.id).collect();
        for origin in origins.iter().filter(|origin| !there.contains(&origin.source_id)) {
            self.report.add("L2", format!("job {}", origin.source_id), format!("job {} here", origin.job_id));
        }
        let next = store.imports().next_job_id().await?;
        let source_ids: HashMap<i64, i64> = origins.iter().map(|origin| (origin.job_id, origin.source_id)).collect();
        let made_here: HashMap<i64, i64> =
            source.jobs.iter().filter_map(|row| Some((row.id, made_here(&row.glue_remark)?))).collect();
        let origins: HashMap<i64, Origin> = origins.into_iter().map(|origin| (origin.source_id, origin)).collect();
        for mut job in mapped {
            let origin = origins.get(&job.id);
            let here = match origin {
                Some(origin) => store.jobs().get(origin.job_id).await?,
                None => None,
            };
            let Some((here, origin)) = here.zip(origin) else {
                let own = match made_here.get(&job.id).filter(|_| origin.is_none()) {
                    Some(id) => store.jobs().get(*id).await?.filter(|own| is_same(own, &job, &source_ids)),
                    None => None,
                };
                if let Some(own) = own {
                    self.report.add("L4", format!("job {}", job.id), format!("job {} here", own.id));
                    continue;
                }
                match origin {
                    Some(Origin { job_id, stored_digest: Some(_), .. }) => {
                        self.report.add("L3", format!("job {}", job.id), format!("job {job_id} here"));
                    }
                    // Also one whose import has ended between its number and the job.
                    _ => {
                        self.check_keys(store, &mut job).await?;
                        if origin.is_none() {
                            self.report_number(&job, next);
                        }
                        self.new.push(job);
                    }
                }
                continue;
            };
            self.compare_with(here, origin, job, &source_ids, keep_here);
        }
        Ok(())
    }

    fn compare_with(
        &mut self,
        here: Job,
        origin: &Origin,
        mut job: MappedJob,
        source_ids: &HashMap<i64, i64>,
        keep_here: bool,
    ) {
        // It counts as one that ran there although it is stopped by now, as before the cut-over; a person may take the tag away.
        let ran = |tags: &[String]| tags.iter().any(|tag| tag == RAN);
        if ran(&here.draft.tags) && !ran(&job.draft.tags) {
            job.draft.tags.push(RAN.to_owned());
        }
        let now = stored_digest(&here, source_ids);
        let is_as_imported = origin.stored_digest.as_ref().is_none_or(|stored| *stored == now);
        let has_changed = origin.stored_digest.is_none() || origin.digest != job.digest;
        let has_moved = job.draft.schedule.anchor_at.is_some_and(|at| at != here.anchor_at);
        match (has_changed, is_as_imported) {
            (true, true) => self.changed.push((here, job)),
            // As after an export of what was changed here.
            (true, false) if now == Self::digest_as_stored(&here, &job, self.children_of(job.id)) => {
                self.kept.push(StoredOrigin { job_id: here.id, digest: job.digest, stored_digest: now });
            }
            // An import has ended between this change and the children, which come last.
            (true, false) if now == Self::digest_as_stored(&here, &job, &[]) => self.changed.push((here, job)),
            (true, false) if keep_here => {
                let stored_digest = origin.stored_digest.clone().unwrap_or_default();
                self.kept.push(StoredOrigin { job_id: here.id, digest: job.digest, stored_digest });
            }
            (true, false) => self.report.add("L1", format!("job {}", job.id), format!("job {} here", here.id)),
            // The phase of its fixed rate, as after a restart there.
            (false, true) if has_moved => self.changed.push((here, job)),
            (false, _) => self.unchanged += 1,
        }
    }

    /// That of the job if this row were stored in it, with these children, by the numbers there.
    fn digest_as_stored(here: &Job, job: &MappedJob, children: &[i64]) -> String {
        // Each number stands for itself.
        let (children, numbers) = (children.to_vec(), children.iter().map(|id| (*id, *id)).collect());
        let mut there = here.clone();
        there.draft = JobDraft { children, ..job.draft.clone() };
        there.anchor_at = job.draft.schedule.anchor_at.unwrap_or(here.anchor_at);
        if let Some(script) = &mut there.draft.script {
            script.sha256 = script.source_digest();
        }
        stored_digest(&there, &numbers)
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
        if is_kept_id(job.id, next) {
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

/// Whether a row that says to come from a job here does: it may come from another installation.
fn is_same(own: &Job, row: &MappedJob, source_ids: &HashMap<i64, i64>) -> bool {
    let (own_draft, draft) = (&own.draft, &row.draft);
    let has_its_name = own_draft.name.starts_with(&draft.name) || own_draft.handler == draft.handler;
    own_draft.app == draft.app && has_its_name && !source_ids.contains_key(&own.id)
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
    for (parent, child) in foreign_links(&mapped, &children) {
        let apps = format!("child {} of app {}", child.id, child.draft.app);
        report.add("K5", format!("job {}", parent.id), apps);
    }
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

/// Jobs with a child of another app.
pub(super) fn foreign_links<'a>(
    mapped: &'a [MappedJob],
    children: &BTreeMap<i64, Vec<i64>>,
) -> Vec<(&'a MappedJob, &'a MappedJob)> {
    let jobs: HashMap<i64, &MappedJob> = mapped.iter().map(|job| (job.id, job)).collect();
    let links = children.iter().flat_map(|(parent, list)| list.iter().map(|child| (*parent, *child)));
    let links = links.filter_map(|(parent, child)| Some((*jobs.get(&parent)?, *jobs.get(&child)?)));
    links.filter(|(parent, child)| parent.draft.app != child.draft.app).collect()
}

/// Checks a definition without its app and its children, which an import makes later.
fn check(draft: &JobDraft, now: Millis) -> Result<(), String> {
    let app = App::new(0, &draft.app);
    let checked = Definition::check_in(DefinitionContext::new(&app, &Calendars::default()), draft, now);
    checked.map(drop).map_err(|errors| FieldError::join(&errors))
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
