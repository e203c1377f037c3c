//! New jobs: one or a thousand, all or none.

use carillon_scheduler::{AuditAction, Millis, shard_of};
use sea_orm::Value;
use serde::Serialize;
use serde_json::json;

use crate::app::job_limit::JobQuota;
use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::sql::execute::NamedValue;
use crate::db::sql::retry;
use crate::error::Result;
use crate::job::audit_snapshot::AuditSnapshot;
use crate::job::labels::scripts::NewScript;
use crate::job::stored_job::{Definition, Job};
use crate::run::follow;
use crate::views::JobStore;

/// The place of the shard among the columns.
const SHARD: usize = 2;

impl JobStore<'_> {
    /// Stores jobs in one transaction and answers them in the order of their definitions.
    ///
    /// With an idempotency key a repeated call of the same account stores nothing and answers the jobs of the first one (those
    /// that are still there).
    pub async fn create(
        self,
        definitions: Vec<Definition>,
        now: Millis,
        actor: &Actor,
        idempotency_key: Option<&str>,
    ) -> Result<Vec<Job>> {
        self.create_within(definitions, None, now, actor, idempotency_key).await
    }

    /// The same, where an app may have `most` jobs. A repeated call is answered also when the app is full by now.
    ///
    /// # Errors
    /// `Refused`: an app would have more, or another job has a key.
    pub async fn create_within(
        self,
        definitions: Vec<Definition>,
        most: Option<u64>,
        now: Millis,
        actor: &Actor,
        idempotency_key: Option<&str>,
    ) -> Result<Vec<Job>> {
        if definitions.is_empty() {
            return Ok(vec![]);
        }
        let ids = self.take_ids(&ids::JOB, definitions.len()).await?;
        let audit_ids = self.take_ids(&ids::ROW, definitions.len()).await?;
        let (mut jobs, scripts) = new_jobs(ids.into_iter().zip(definitions), now, actor);
        // Keys are each account's own: the keys of others cannot be taken by guessing.
        let key = idempotency_key.map(|key| format!("{}:{key}", actor.account_id.unwrap_or(0)));
        let idempotency_key = key.as_deref();
        // Another request with the same key may be quicker: its jobs are the answer then.
        let attempt = || async {
            if let Some(key) = idempotency_key
                && let Some(first) = self.created_with(key).await?
            {
                return Ok(Created::Before(first));
            }
            self.refuse_taken_keys(&self.changes, &jobs).await?;
            let quota = self.apps().quota_for(&jobs, most).await?;
            let rows = NewRows::new(&jobs, scripts.clone(), actor);
            self.insert_jobs(&jobs, rows, (audit_ids.as_slice(), &quota), idempotency_key).await
        };
        match retry::on_race(attempt).await? {
            Created::Before(first) => Ok(first),
            Created::Now { shards } => {
                for job in &mut jobs {
                    job.shard = shard_of(job.id, shards);
                }
                Ok(jobs)
            }
        }
    }

    /// Stores jobs that are imported, in one transaction, under ids that were kept for them.
    ///
    /// # Errors
    /// `Refused`: another job has a key, or an app would have more jobs than it may have.
    pub async fn create_imported(self, definitions: Vec<(i64, Definition)>, now: Millis, actor: &Actor) -> Result<()> {
        let (jobs, scripts) = new_jobs(definitions.into_iter(), now, actor);
        if jobs.is_empty() {
            return Ok(());
        }
        let audit_ids = self.take_ids(&ids::ROW, jobs.len()).await?;
        self.refuse_taken_keys(&self.changes, &jobs).await?;
        let quota = self.apps().quota_for(&jobs, None).await?;
        let rows = NewRows::new(&jobs, scripts, actor);
        self.insert_jobs(&jobs, rows, (audit_ids.as_slice(), &quota), None).await?;
        Ok(())
    }

    /// The rows are made before the transaction begins: on SQLite all other writers wait for it.
    async fn insert_jobs(
        self,
        jobs: &[Job],
        mut rows: NewRows,
        (audit_ids, quota): (&[i64], &JobQuota<'_>),
        idempotency_key: Option<&str>,
    ) -> Result<Created> {
        let tx = self.begin_change().await?;
        // Read here and kept from changing: a job must not come to lie in a shard that has just gone.
        let shards = self.leases().shard_count_in(&tx).await?.unwrap_or(1);
        rows.put_in_shards(jobs, shards);
        self.apps().hold_quota(&tx, quota).await?;
        self.insert_rows(&tx, "job", &rows.job_columns, rows.jobs).await?;
        self.insert_rows(&tx, "job_params", "job_id, params", rows.params).await?;
        self.insert_rows(&tx, "job_clock", CLOCK, rows.cursors).await?;
        self.loops().insert_wanted(&tx, jobs, shards).await?;
        self.calendars().insert_calendars(&tx, jobs).await?;
        self.insert_children(&tx, jobs).await?;
        self.insert_labels(&tx, jobs).await?;
        self.insert_scripts(&tx, &rows.scripts).await?;
        self.hold_used_jobs(&tx, jobs).await?;
        self.workflows().insert_graphs(&tx, jobs).await?;
        self.insert_parts(&tx, jobs).await?;
        if let Some(key) = idempotency_key {
            let objects: Vec<(String, i64)> = jobs.iter().enumerate().map(|(at, job)| (kind(at), job.id)).collect();
            self.remember_all(&tx, key, &objects, jobs[0].created_at).await?;
        }
        self.audit().insert(&tx, rows.audit, audit_ids).await?;
        self.limits().hold_named(&tx, jobs).await?;
        tx.commit().await?;
        Ok(Created::Now { shards })
    }

    async fn created_with(self, key: &str) -> Result<Option<Vec<Job>>> {
        let Some(first) = self.made_before(&kind(0), key).await? else {
            return Ok(None);
        };
        let mut jobs: Vec<Job> = self.get(first).await?.into_iter().collect();
        let mut index = 1;
        while let Some(id) = self.made_before(&kind(index), key).await? {
            jobs.extend(self.get(id).await?);
            index += 1;
        }
        Ok(Some(jobs))
    }
}

enum Created {
    Now {
        shards: i32,
    },
    /// By an earlier request with the same key: these.
    Before(Vec<Job>),
}

/// The kind under which an idempotency key stores the job at this place of its request.
fn kind(index: usize) -> String {
    if index == 0 { "jobs".to_owned() } else { format!("jobs-{index}") }
}

/// New jobs as rows of their tables.
struct NewRows {
    job_columns: String,
    jobs: Vec<Vec<Value>>,
    params: Vec<Vec<Value>>,
    cursors: Vec<Vec<Value>>,
    scripts: Vec<(i64, NewScript)>,
    audit: Vec<AuditEntry>,
}

impl NewRows {
    fn new(jobs: &[Job], scripts: Vec<(i64, NewScript)>, actor: &Actor) -> Self {
        let entry = |job: &Job| {
            let detail = CreatedDetail { after: AuditSnapshot::new(job), revision: 1 };
            AuditEntry::new(actor, job.created_at, AuditAction::Create, AuditObject::job(job.id, job.app_id), detail)
        };
        let columns: Vec<&str> = jobs.iter().take(1).flat_map(job_row).map(|(column, _)| column).collect();
        Self {
            job_columns: columns.join(", "),
            jobs: jobs.iter().map(|job| job_row(job).map(|(_, value)| value).collect()).collect(),
            params: jobs.iter().map(|job| values![job.id, job.draft.params.as_str()]).collect(),
            cursors: vec![],
            scripts,
            audit: jobs.iter().map(entry).collect(),
        }
    }

    fn put_in_shards(&mut self, jobs: &[Job], shards: i32) {
        for (row, job) in self.jobs.iter_mut().zip(jobs) {
            let shard = shard_of(job.id, shards);
            row[SHARD] = shard.into();
            self.cursors.extend(cursor_in(job, shard));
        }
    }
}

#[derive(Serialize)]
struct CreatedDetail<'a> {
    after: AuditSnapshot<'a>,
    revision: i64,
}

pub(crate) const CLOCK: &str = "shard, next_fire_at, job_id, revision, delayed_job";

/// The job's row in the due table, if it has one: only enabled jobs that fire again do.
pub(crate) fn cursor_row(job: &Job) -> Option<Vec<Value>> {
    cursor_in(job, job.shard)
}

fn cursor_in(job: &Job, shard: i32) -> Option<Vec<Value>> {
    let next = job.next_fire_at?;
    let is_delayed = job.draft.schedule.kind() == "fixed_delay";
    Some(values![shard, next, job.id, job.revision, is_delayed.then_some(job.id)])
}

/// The jobs, and the scripts of those that have one.
fn new_jobs(
    definitions: impl Iterator<Item = (i64, Definition)>,
    now: Millis,
    actor: &Actor,
) -> (Vec<Job>, Vec<(i64, NewScript)>) {
    let (mut jobs, mut scripts) = (vec![], vec![]);
    for (id, mut definition) in definitions {
        if let Some((script, source)) = definition.draft.script.as_mut().zip(definition.script_source.take()) {
            let version = *script.version.get_or_insert(now);
            let (kind, remark, author) = (script.kind, script.remark.clone(), actor.name.clone());
            scripts.push((id, NewScript { version, kind, source, remark, author, created_at: now }));
        }
        jobs.push(new_job(definition, id, now));
    }
    (jobs, scripts)
}

fn new_job(definition: Definition, id: i64, now: Millis) -> Job {
    let Definition { app_id, draft, spec, anchor_at, spread_offset, calendars, .. } = definition;
    let graph_version = draft.workflow.is_some().then_some(now);
    Job {
        id,
        app_id,
        shard: 0,
        // The executor of a loop counts its instants itself.
        next_fire_at: if draft.enabled && !draft.is_best_effort() { spec.schedule.first_after(now) } else { None },
        fires_left: spec.schedule.max_fires().map(u32::cast_signed),
        draft,
        anchor_at,
        spread_offset,
        calendars,
        paused_reason: None,
        graph_version,
        pause: None,
        resume_from_at: None,
        revision: 1,
        created_at: now,
        updated_at: now,
    }
}

fn job_row(job: &Job) -> impl Iterator<Item = NamedValue> {
    let Job { id, app_id, shard, revision, created_at, updated_at, .. } = *job;
    let row = named![id, app_id, shard].into_iter().chain(definition_columns(job));
    row.chain(named![revision, created_at, updated_at])
}

/// What both the insert and the update write.
pub(crate) fn definition_columns(job: &Job) -> [NamedValue; 37] {
    let draft = &job.draft;
    let script = draft.script.as_ref();
    named![
        job_key: given(&draft.key),
        set_name: given(&draft.set),
        name: draft.name.as_str(),
        handler: draft.handler.as_str(),
        script_type: script.map(|script| script.kind.as_str()),
        script_version: script.and_then(|script| script.version),
        graph_version: job.graph_version,
        http: draft.http.as_ref().map(|http| json!(http).to_string()),
        durability: draft.durability.as_str(),
        schedule_kind: draft.schedule.kind(),
        schedule_text: schedule_text(job),
        anchor_at: job.anchor_at,
        catch_up: draft.catch_up.as_str(),
        misfire: draft.misfire.as_str(),
        misfire_threshold_ms: draft.misfire_threshold_seconds * 1000,
        misfire_limit: draft.misfire_limit,
        misfire_window_ms: draft.misfire_window_seconds * 1000,
        route: draft.route.as_str(),
        route_labels: draft.route_labels.as_str(),
        overlap: draft.overlap.as_str(),
        overlap_queue: draft.overlap_queue,
        max_concurrent: draft.max_concurrent,
        limits: (!draft.limits.is_empty()).then(|| json!(draft.limits).to_string()),
        priority: draft.priority,
        block: draft.block.as_str(),
        timeout_seconds: draft.timeout_seconds,
        retries: draft.retries,
        retry_delay: draft.retry_delay.to_string(),
        follow: follow::of_job(draft),
        flag_after_seconds: draft.flag_after_seconds,
        start_within_seconds: draft.start_within_seconds,
        pause_after_failures: draft.pause_after_failures,
        takes_result: draft.takes_result,
        enabled: draft.enabled,
        spread_offset: job.spread_offset,
        fires_left: job.fires_left,
        parts: draft.parts.count(),
    ]
}

/// None: the member is empty.
fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// The schedule as the API spells it.
fn schedule_text(job: &Job) -> String {
    json!(job.draft.schedule).to_string()
}
