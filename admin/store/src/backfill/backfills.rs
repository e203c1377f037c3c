//! Backfills: runs for instants of the past, released a few at a time.
//!
//! The instants are written down when it is asked for. Each step inserts runs and moves `passed_at` in one transaction, so
//! a crash loses and repeats nothing; an instant that has a run of this cause already never gets a second one.

use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use sea_orm::FromQueryResult;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::filter::Page;
use crate::error::{Error, Result};
use crate::job::lock::TargetJob;
use crate::views::BackfillStore;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct NewBackfill {
    pub job: TargetJob,
    pub from_at: Millis,
    pub to_at: Millis,
    /// Most backfill runs of the job that may be open at once.
    pub max_concurrent: i32,
    /// Ascending.
    pub instants: Vec<Millis>,
}

/// A backfill and how far it has come.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct Backfill {
    pub id: i64,
    pub job_id: i64,
    pub from_at: Millis,
    pub to_at: Millis,
    pub max_concurrent: i32,
    /// Instants in the range.
    pub instants: i32,
    /// Runs that it has made.
    pub released: i32,
    /// Instants that had their run already, from an earlier backfill.
    pub skipped: i32,
    pub created_at: Millis,
    /// All are released, or it was cancelled.
    pub finished_at: Option<Millis>,
    pub cancelled: bool,
}

/// How many of its instants have runs on record, and how those have ended: all parts, by any of their attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromQueryResult)]
pub struct BackfillResults {
    pub on_record: i64,
    pub succeeded: i64,
    /// Their runs have not ended.
    pub pending: i64,
}

const COLUMNS: &str =
    "id, job_id, from_at, to_at, max_concurrent, instants, released, skipped, created_at, finished_at, cancelled";

impl BackfillStore<'_> {
    /// Writes down what is to be done.
    ///
    /// # Errors
    /// `Missing`: there is no such job.
    pub async fn create(self, new: &NewBackfill, now: Millis, actor: &Actor) -> Result<Backfill> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let (app_id, job_id) = (self.app_of_locked_job(&tx, new.job).await?, new.job.id);
        let count = new.instants.len() as i32;
        let (from_at, to_at, max_concurrent) = (new.from_at, new.to_at, new.max_concurrent);
        let row = named![id, job_id, from_at, to_at, max_concurrent, instants: count, released: 0, skipped: 0, created_at: now,
            finished_at: None::<Millis>, cancelled: false, passed_at: from_at - 1];
        self.insert_row(&tx, "backfill", row).await?;
        let instants = new.instants.iter().map(|at| values![id, *at]);
        self.insert_rows(&tx, "backfill_instant", "backfill_id, at", instants.collect()).await?;
        let detail = json!({"backfill": id, "from": new.from_at, "to": new.to_at, "instants": new.instants.len()});
        audit.commit(tx, AuditAction::Backfill, AuditObject::job(job_id, app_id), detail).await?;
        self.get(id).await?.ok_or_else(|| Error::Missing(format!("backfill {id}")))
    }

    async fn app_of_locked_job(self, tx: &Transaction, job: TargetJob) -> Result<i64> {
        let text = "SELECT app_id FROM job WHERE id = ?{for_update}";
        let found: Option<i64> = self.tuple(tx, text, values![job.id]).await?;
        found.filter(|app_id| job.is_in(*app_id)).ok_or_else(|| Error::Missing(format!("job {}", job.id)))
    }

    pub async fn get(self, id: i64) -> Result<Option<Backfill>> {
        let text = format!("SELECT {COLUMNS} FROM backfill WHERE id = ?");
        self.one(&self.changes, &text, values![id]).await
    }

    /// What has become of the instants of a backfill.
    pub async fn results(self, backfill: &Backfill) -> Result<BackfillResults> {
        let text = "SELECT COUNT(*) AS on_record, COUNT(CASE WHEN done = parts THEN 1 END) AS succeeded, \
             COUNT(CASE WHEN done < parts AND pending > 0 THEN 1 END) AS pending FROM (\
             SELECT r.fire_no, MAX(r.parts) AS parts, COUNT(DISTINCT CASE WHEN r.state = {state.succeeded} THEN r.part END) AS done, \
             COUNT(CASE WHEN r.state IN ({state.pending}) THEN 1 END) AS pending FROM backfill_instant b JOIN run r ON r.fire_no = b.at \
             WHERE b.backfill_id = ? AND r.job_id = ? AND r.cause = {cause.backfill} GROUP BY r.fire_no) AS fires";
        let found = self.one(&self.read, text, values![backfill.id, backfill.job_id]).await?;
        Ok(found.unwrap_or_default())
    }

    /// The backfills of a job, newest first.
    pub async fn list(self, job_id: i64, after: Option<i64>, limit: u32) -> Result<Page<Backfill>> {
        let text = format!("SELECT {COLUMNS} FROM backfill WHERE job_id = ? AND id < ? ORDER BY id DESC LIMIT ?");
        let values = values![job_id, after.unwrap_or(i64::MAX), i64::from(limit) + 1];
        let items: Vec<Backfill> = self.all(&self.read, &text, values).await?;
        Ok(Page::cut(items, limit, |backfill| backfill.id))
    }

    /// No further runs are made; those that are there stay. A finished one stays as it is.
    ///
    /// # Errors
    /// `Missing`.
    pub async fn cancel(self, id: i64, now: Millis, actor: &Actor) -> Result<Backfill> {
        let missing = || Error::Missing(format!("backfill {id}"));
        let before = self.get(id).await?.ok_or_else(missing)?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let text = "UPDATE backfill SET finished_at = ?, cancelled = TRUE WHERE id = ? AND finished_at IS NULL";
        let done = self.execute(&tx, text, values![now, id]).await?;
        if done == 1 {
            let passed: Option<Millis> =
                self.tuple(&tx, "SELECT passed_at FROM backfill WHERE id = ?", values![id]).await?;
            self.forget_instants(&tx, id, passed.unwrap_or(Millis::MIN)).await?;
            let detail = json!({"backfill": id});
            let app_id = self.tuple(&tx, "SELECT app_id FROM job WHERE id = ?", values![before.job_id]).await?;
            let object = AuditObject::new(AuditObjectKind::Job, before.job_id).in_app(app_id);
            audit.commit(tx, AuditAction::CancelBackfill, object, detail).await?;
        }
        self.get(id).await?.ok_or_else(missing)
    }

    /// Which of these instants of a job have a run of this cause, or had one.
    pub async fn recorded_instants(self, job_id: i64, instants: &[Millis]) -> Result<Vec<Millis>> {
        let mut found = Vec::new();
        for chunk in instants.chunks(1000) {
            found.extend(self.backfilled_in(&self.read, job_id, chunk).await?);
        }
        Ok(found)
    }

    pub(crate) async fn backfilled_in(
        self,
        db: &impl sea_orm::ConnectionTrait,
        job_id: i64,
        instants: &[Millis],
    ) -> Result<Vec<Millis>> {
        let text = "SELECT fire_no FROM run WHERE fire_no IN ({ids}) AND job_id = ? AND cause = {cause.backfill} AND part = 0 AND attempt = 1";
        let mut found: Vec<Millis> = self.tuples(db, text, values![self.ids(instants), job_id]).await?;
        // What is left of runs that were kept long enough.
        let text = "SELECT at FROM backfill_done WHERE job_id = ? AND at IN ({ids})";
        found.extend(self.tuples::<Millis>(db, text, values![job_id, self.ids(instants)]).await?);
        Ok(found)
    }
}
