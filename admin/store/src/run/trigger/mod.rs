//! Fires without a schedule: run now, API, and later children and backfill; those that are not due yet are in [`delayed`].

pub mod delayed;
mod former_secrets;

use carillon_scheduler::{AuditAction, Cause, Millis, Parts};
use sea_orm::Value;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::db::sql::text::cut;
use crate::error::Result;
use crate::job::audit_snapshot::short_parts;
use crate::job::lock::TargetJob;
use crate::run::new_runs::NewRun;
use crate::views::RunStore;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct NewTrigger {
    pub job: TargetJob,
    pub cause: Cause,
    pub params: Option<String>,
    /// `params` repeat what the job was saved with: placeholders of secrets count in them.
    pub repeats_saved: bool,
    /// In place of the parts that the job has.
    pub parts: Option<Parts>,
    pub address: Option<String>,
    /// In place of the priority that the job has, in seconds.
    pub priority: Option<i32>,
    pub idempotency_key: Option<String>,
    /// The trace context of the request.
    pub traceparent: Option<String>,
    /// The run that this one repeats.
    pub rerun_of: Option<i64>,
    /// Nothing is made if a run repeats `rerun_of` already.
    pub is_only_rerun: bool,
}

/// The run of a fire, new or found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriggeredRun {
    pub run_id: i64,
    pub shard: i32,
    pub found: TriggerResult,
}

/// Whether a fire has made its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerResult {
    Made,
    /// An earlier request with the same key had made it.
    SameKey,
    /// It repeats the same run, and no second one was to.
    OtherRerun,
}

/// Runs that one transaction makes: on SQLite all other writers wait for it.
const SLICE: usize = 50;
/// Bytes of the parameters that the audit keeps.
const PARAMS_IN_AUDIT: usize = 1000;
pub(crate) const INPUT: &str =
    "run_id, params, address, rerun_of, parts, part_params, traceparent, priority, repeats_saved";

/// The row of what a run is given, in the order of [`INPUT`]. `params`: also whether they repeat what the job was saved with.
pub(crate) fn input_row(
    run_id: i64,
    ((params, repeats_saved), address): ((Option<&str>, bool), Option<&str>),
    rerun_of: Option<i64>,
    parts: Option<&Parts>,
    traceparent: Option<&str>,
    priority: Option<i32>,
) -> Vec<Value> {
    let texts = parts.and_then(Parts::texts).map(|texts| json!(texts).to_string());
    values![run_id, params, address, rerun_of, parts.map(Parts::count), texts, traceparent, priority, repeats_saved]
}

impl RunStore<'_> {
    /// Records the run, `claimed` under epoch 0: the holder of its shard adopts it. None: there is no such job.
    pub async fn insert_triggered(self, fire: &NewTrigger, now: Millis, actor: &Actor) -> Result<Option<TriggeredRun>> {
        Ok(self.insert_triggered_all(std::slice::from_ref(fire), now, actor).await?.pop().flatten())
    }

    /// The same for many, at most 50 of them in a transaction; the answer has their order.
    ///
    /// # Errors
    /// The database does not answer; the slices before are committed.
    pub async fn insert_triggered_all(
        self,
        fires: &[NewTrigger],
        now: Millis,
        actor: &Actor,
    ) -> Result<Vec<Option<TriggeredRun>>> {
        // Locked in the order that all transactions keep.
        let mut places: Vec<usize> = (0..fires.len()).collect();
        places.sort_by_key(|place| fires[*place].job.id);
        let mut made = vec![None; fires.len()];
        for slice in places.chunks(SLICE) {
            let audit_ids = self.take_ids(&ids::ROW, slice.len()).await?;
            let run_ids = self.take_ids(&ids::RUN, slice.len()).await?;
            let ids: Vec<(i64, i64)> = run_ids.into_iter().zip(audit_ids).collect();
            // The same key at the same moment: the next attempt finds what the other one has made.
            let runs = retry::on_race(|| self.try_insert_triggered_all(fires, slice, &ids, now, actor)).await?;
            for (place, run) in slice.iter().zip(runs) {
                made[*place] = run;
            }
        }
        Ok(made)
    }

    async fn try_insert_triggered_all(
        self,
        fires: &[NewTrigger],
        places: &[usize],
        ids: &[(i64, i64)],
        now: Millis,
        actor: &Actor,
    ) -> Result<Vec<Option<TriggeredRun>>> {
        let tx = self.begin_change().await?;
        let mut made = Vec::with_capacity(places.len());
        for (place, (run_id, audit_id)) in places.iter().zip(ids) {
            made.push(self.insert_triggered_in(&tx, &fires[*place], *run_id, now, (actor, *audit_id)).await?);
        }
        tx.commit().await?;
        Ok(made)
    }

    async fn insert_triggered_in(
        self,
        tx: &Transaction,
        fire: &NewTrigger,
        run_id: i64,
        now: Millis,
        (actor, audit_id): (&Actor, i64),
    ) -> Result<Option<TriggeredRun>> {
        // Locked, or a deletion at the same moment would not see the run and leave it behind.
        let text = "SELECT shard, app_id FROM job WHERE id = ?{for_update}";
        let job_id = fire.job.id;
        let found = self.tuple::<(i32, i64)>(tx, text, values![job_id]).await?;
        let Some((shard, app_id)) = found.filter(|(_, app_id)| fire.job.is_in(*app_id)) else {
            return Ok(None);
        };
        let key = fire.idempotency_key.as_deref().map(|key| (format!("fire:{job_id}"), key));
        if let Some((kind, key)) = &key
            && let Some(run_id) = self.made_before_in(tx, kind, key).await?
        {
            return Ok(Some(TriggeredRun { run_id, shard, found: TriggerResult::SameKey }));
        }
        // Under the lock of the job: of two requests at the same moment the second finds the run of the first.
        if let Some(original) = fire.rerun_of.filter(|_| fire.is_only_rerun) {
            let text = "SELECT MIN(run_id) FROM run_input WHERE rerun_of = ?";
            if let Some(run_id) = self.tuple::<Option<i64>>(tx, text, values![original]).await?.flatten() {
                return Ok(Some(TriggeredRun { run_id, shard, found: TriggerResult::OtherRerun }));
            }
        }
        if let Some((kind, key)) = &key {
            self.remember(tx, kind, key, run_id, now).await?;
        }
        // The fire's number is its first run's own id, so it can never collide with an instant of another cause.
        let run = NewRun { id: run_id, job_id, cause: fire.cause, fire_no: run_id, scheduled_at: now, due_at: now };
        self.insert_runs(tx, &[run]).await?;
        let is_given = fire.params.is_some() || fire.address.is_some() || fire.parts.is_some();
        let is_given = is_given || fire.rerun_of.is_some() || fire.traceparent.is_some() || fire.priority.is_some();
        if is_given {
            let given = ((fire.params.as_deref(), fire.repeats_saved), fire.address.as_deref());
            let traceparent = fire.traceparent.as_deref();
            let row = input_row(run_id, given, fire.rerun_of, fire.parts.as_ref(), traceparent, fire.priority);
            self.insert_rows(tx, "run_input", INPUT, vec![row]).await?;
        }
        let mut detail = json!({"job": job_id, "cause": fire.cause});
        if let Some(params) = &fire.params {
            detail["params"] = cut(params, PARAMS_IN_AUDIT).into();
        }
        if let Some(parts) = &fire.parts {
            detail["parts"] = json!(short_parts(parts));
        }
        if let Some(address) = &fire.address {
            detail["address"] = address.as_str().into();
        }
        if let Some(priority) = fire.priority {
            detail["priority"] = priority.into();
        }
        if let Some(original) = fire.rerun_of {
            detail["rerun_of"] = original.into();
        }
        let entry = AuditEntry::new(actor, now, AuditAction::Run, AuditObject::run(run_id, app_id), detail);
        self.audit().insert(tx, vec![entry], &[audit_id]).await?;
        Ok(Some(TriggeredRun { run_id, shard, found: TriggerResult::Made }))
    }
}
