//! Recording triggers: all of a request in one transaction, with one bulk statement and one entry in the audit.

use std::ops::Range;

use carillon_scheduler::{AuditAction, Cause, Millis, Parts};
use sea_orm::{ConnectionTrait, Value};
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::request_key::request_key;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{ListColumn, long};
use crate::db::sql::retry;
use crate::db::sql::text::cut;
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::job::audit_snapshot::short_parts;
use crate::job::lock::TargetJob;
use crate::run::trigger::{INPUT, input_row};
use crate::views::DelayedStore;

/// Triggers of one request at most.
pub const MAX_TRIGGERS: usize = 1_000;
/// Bytes of the parameters that the audit keeps of a single trigger.
const PARAMS_IN_AUDIT: usize = 1_000;

const LIST: &[ListColumn] = &[long("id"), long("due_at"), long("expires_at")];

pub(crate) static INSERT_DELAYED: Bulk = Bulk::text(
    LIST,
    "INSERT INTO delayed_trigger (shard, due_at, id, job_id, expires_at, created_at) \
     SELECT :shard, u.due_at, u.id, :job, u.expires_at, :now FROM {list}",
);

/// One trigger of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelayed {
    pub due_at: Millis,
    /// If it is reached later than this, its run is cancelled. None: it runs however late it is.
    pub expires_at: Option<Millis>,
    /// None: the job's own, as they are when the run is sent.
    pub params: Option<String>,
    /// In place of the parts that the job has.
    pub parts: Option<Parts>,
    pub address: Option<String>,
    /// In place of the priority that the job has, in seconds.
    pub priority: Option<i32>,
}

/// Triggers of one job, 1 to [`MAX_TRIGGERS`].
#[derive(Clone, Debug)]
pub struct DelayedRequest {
    pub job: TargetJob,
    pub items: Vec<NewDelayed>,
    pub idempotency_key: Option<String>,
    /// Of what was asked for, at most 64 characters: a key stands for one request.
    pub digest: String,
    /// The trace context of the request.
    pub traceparent: Option<String>,
    /// The request is for a list, also if that has one item: its key is none of a request for one run.
    pub is_list: bool,
}

/// The key of a request, and what was asked for with it.
#[derive(Clone, Copy, Debug)]
pub struct RequestKey<'a> {
    pub job_id: i64,
    /// A list has keys of its own; a single run has one of the kind of a run that is not delayed.
    pub is_list: bool,
    pub key: &'a str,
    pub digest: &'a str,
}

impl RequestKey<'_> {
    fn stored(&self) -> String {
        let kind = if self.is_list { "fires" } else { "fire" };
        request_key(&format!("{kind}:{}", self.job_id), self.key)
    }
}

/// What a request has recorded, or an earlier one with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTriggers {
    /// In the order of the items.
    pub ids: Vec<i64>,
    pub shard: i32,
    /// False: an earlier request with the same key had recorded them.
    pub is_new: bool,
}

impl DelayedRequest {
    fn key(&self) -> Option<RequestKey<'_>> {
        let key = self.idempotency_key.as_deref()?;
        Some(RequestKey { job_id: self.job.id, is_list: self.is_list, key, digest: &self.digest })
    }

    /// The key is there for as long as the latest of its triggers waits, and the usual time after that.
    fn key_row(&self, key: &RequestKey<'_>, ids: &Range<i64>, now: Millis) -> Vec<Value> {
        let created_at = self.items.iter().map(|item| item.due_at).fold(now, Millis::max);
        values![key.stored(), ids.start, created_at, self.items.len() as i32, key.digest]
    }

    fn audit_entry(&self, ids: &[i64], app_id: i64, now: Millis, actor: &Actor) -> AuditEntry {
        let job_id = self.job.id;
        let mut detail = json!({"job": job_id, "cause": Cause::Delayed});
        let object = match (&self.items[..], ids) {
            ([item], [id]) if !self.is_list => {
                detail["due_at"] = item.due_at.into();
                if let Some(params) = &item.params {
                    detail["params"] = cut(params, PARAMS_IN_AUDIT).into();
                }
                if let Some(parts) = &item.parts {
                    detail["parts"] = json!(short_parts(parts));
                }
                if let Some(address) = &item.address {
                    detail["address"] = address.as_str().into();
                }
                if let Some(priority) = item.priority {
                    detail["priority"] = priority.into();
                }
                AuditObject::run(*id, app_id)
            }
            _ => {
                let times = || self.items.iter().map(|item| item.due_at);
                detail["count"] = ids.len().into();
                detail["from"] = times().min().into();
                detail["to"] = times().max().into();
                AuditObject::job(job_id, app_id)
            }
        };
        AuditEntry::new(actor, now, AuditAction::Run, object, detail)
    }
}

impl DelayedStore<'_> {
    /// Records all triggers of a request or none. None: there is no such job. An empty request records nothing.
    pub async fn insert(
        self,
        request: &DelayedRequest,
        now: Millis,
        actor: &Actor,
    ) -> Result<Option<RecordedTriggers>> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let ids = self.take_range(&ids::DELAYED, request.items.len()).await?;
        // The same key at the same moment: the next attempt finds what the other one has recorded.
        retry::on_race(|| self.try_insert(request, &ids, audit_id, now, actor)).await
    }

    async fn try_insert(
        self,
        request: &DelayedRequest,
        ids: &Range<i64>,
        audit_id: i64,
        now: Millis,
        actor: &Actor,
    ) -> Result<Option<RecordedTriggers>> {
        let tx = self.begin_change().await?;
        // Locked, so that neither a deletion nor another number of shards misses the rows.
        let text = "SELECT shard, app_id FROM job WHERE id = ?{for_update}";
        let job_id = request.job.id;
        let found = self.tuple::<(i32, i64)>(&tx, text, values![job_id]).await?;
        let Some((shard, app_id)) = found.filter(|(_, app_id)| request.job.is_in(*app_id)) else {
            return Ok(None);
        };
        if let Some(key) = request.key() {
            if let Some(before) = self.recorded_in(&tx, &key).await? {
                return Ok(Some(before));
            }
            let row = request.key_row(&key, ids, now);
            let columns = "request_key, object_id, created_at, items, digest";
            let inserted = self.insert_rows(&tx, "idempotency", columns, vec![row]).await;
            inserted.map_err(|error| error.or_taken(UniqueKey::RequestKey, key.key))?;
        }
        let ids: Vec<i64> = ids.clone().collect();
        self.insert_rows_of(&tx, request, &ids, shard, now).await?;
        let entry = request.audit_entry(&ids, app_id, now, actor);
        self.audit().insert(&tx, vec![entry], &[audit_id]).await?;
        tx.commit().await?;
        Ok(Some(RecordedTriggers { ids, shard, is_new: true }))
    }

    async fn insert_rows_of(
        self,
        tx: &Transaction,
        request: &DelayedRequest,
        ids: &[i64],
        shard: i32,
        now: Millis,
    ) -> Result<()> {
        let items = || ids.iter().zip(&request.items);
        let rows: Vec<_> = items().map(|(id, item)| (*id, item.due_at, item.expires_at.unwrap_or(0))).collect();
        self.bulk(tx, &INSERT_DELAYED, &named![shard, job: request.job.id, now], &rows).await?;
        // The row of one that expires is there for its run.
        let is_given = |item: &NewDelayed| {
            item.params.is_some() || item.address.is_some() || item.parts.is_some() || item.priority.is_some()
        };
        let traceparent = request.traceparent.as_deref();
        let has_row = |item: &NewDelayed| is_given(item) || item.expires_at.is_some() || traceparent.is_some();
        let given = items().filter(|(_, item)| has_row(item));
        let row = |(id, item): (&i64, &NewDelayed)| {
            let given = (item.params.as_deref(), item.address.as_deref());
            input_row(*id, given, None, item.parts.as_ref(), traceparent, item.priority)
        };
        self.insert_rows(tx, "run_input", INPUT, given.map(row).collect()).await
    }

    /// What the first request with this key has recorded, whatever became of it.
    ///
    /// # Errors
    /// `Changed`: it has asked for something else.
    pub async fn recorded_before(self, key: &RequestKey<'_>) -> Result<Option<RecordedTriggers>> {
        self.recorded_in(&self.read, key).await
    }

    async fn recorded_in(self, db: &impl ConnectionTrait, key: &RequestKey<'_>) -> Result<Option<RecordedTriggers>> {
        let text = "SELECT i.object_id, i.items, i.digest, job.shard FROM idempotency i JOIN job ON job.id = ? WHERE i.request_key = ?";
        let found: Option<(i64, Option<i32>, Option<String>, i32)> =
            self.tuple(db, text, values![key.job_id, key.stored()]).await?;
        let Some((first, items, digest, shard)) = found else { return Ok(None) };
        // A run that is not delayed has no digest.
        if digest.as_deref() != Some(key.digest) {
            return Err(Error::Changed(OTHER_REQUEST.to_owned()));
        }
        let ids = (first..first + i64::from(items.unwrap_or(1))).collect();
        Ok(Some(RecordedTriggers { ids, shard, is_new: false }))
    }
}

const OTHER_REQUEST: &str = "this idempotency key was sent before with another request";
