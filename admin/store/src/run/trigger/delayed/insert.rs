//! Recording triggers: all of a request in one transaction, with one bulk statement and one entry in the audit.

use carillon_scheduler::{AuditAction, Cause, Millis, Parts};
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
use crate::error::Result;
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
}

/// Triggers of one job, 1 to [`MAX_TRIGGERS`].
#[derive(Clone, Debug)]
pub struct DelayedRequest {
    pub job: TargetJob,
    pub items: Vec<NewDelayed>,
    pub idempotency_key: Option<String>,
    /// The request is for a list, also if that has one item: its key is none of a request for one run.
    pub is_list: bool,
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
    /// The kinds of the keys of the first `count` items. A single run has the kind of a run that is not delayed.
    fn kinds(&self, count: usize) -> Vec<String> {
        let job_id = self.job.id;
        match self.is_list {
            true => (0..count).map(|place| format!("fires:{job_id}:{place}")).collect(),
            false => vec![format!("fire:{job_id}")],
        }
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
        let ids = self.take_ids(&ids::DELAYED, request.items.len()).await?;
        // The same key at the same moment: the next attempt finds what the other one has recorded.
        retry::on_race(|| self.try_insert(request, &ids, audit_id, now, actor)).await
    }

    async fn try_insert(
        self,
        request: &DelayedRequest,
        ids: &[i64],
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
        if let Some(key) = &request.idempotency_key {
            let before = self.recorded_before(&tx, request, key).await?;
            if !before.is_empty() {
                return Ok(Some(RecordedTriggers { ids: before, shard, is_new: false }));
            }
            let objects: Vec<_> = request.kinds(ids.len()).into_iter().zip(ids.iter().copied()).collect();
            self.remember_all(&tx, key, &objects, now).await?;
        }
        self.insert_rows_of(&tx, request, ids, shard, now).await?;
        let entry = request.audit_entry(ids, app_id, now, actor);
        self.audit().insert(&tx, vec![entry], &[audit_id]).await?;
        tx.commit().await?;
        Ok(Some(RecordedTriggers { ids: ids.to_vec(), shard, is_new: true }))
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
        let is_given = |item: &NewDelayed| item.params.is_some() || item.address.is_some() || item.parts.is_some();
        let given = items().filter(|(_, item)| is_given(item) || item.expires_at.is_some());
        let row = |(id, item): (&i64, &NewDelayed)| {
            input_row(*id, (item.params.as_deref(), item.address.as_deref()), None, item.parts.as_ref())
        };
        self.insert_rows(tx, "run_input", INPUT, given.map(row).collect()).await
    }

    /// What the first request with this key has recorded, whatever became of it.
    async fn recorded_before(self, tx: &Transaction, request: &DelayedRequest, key: &str) -> Result<Vec<i64>> {
        let kinds = request.kinds(MAX_TRIGGERS);
        let marks = vec!["?"; kinds.len()].join(",");
        let text = format!("SELECT object_id FROM idempotency WHERE request_key IN ({marks}) ORDER BY object_id");
        let keys = kinds.iter().map(|kind| request_key(kind, key).into()).collect();
        self.tuples(tx, &text, keys).await
    }
}
