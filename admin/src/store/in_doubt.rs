//! Runs that were sent and of which nothing was heard: what asking about one takes.

use carillon_scheduler::{Cause, Millis};

use super::adopt::Waiting;
use super::row::Columns;
use super::{Result, Store};

/// A run in `sending`, and where it was sent.
#[derive(Clone, Debug)]
pub struct InDoubt {
    pub run: Waiting,
    /// None: the app is gone.
    pub app: Option<String>,
    pub address: Option<String>,
    pub marked_at: Millis,
    /// Requests so far that may have arrived.
    pub sends: i32,
    /// Of the executor that it was marked for.
    pub boot_id: Option<String>,
    pub journal_id: Option<String>,
    /// The revision of its job whose definition was sent; None: sent by a version that did not note it.
    pub revision: Option<i64>,
}

/// Whether a run may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    Marked,
    /// Somebody else has learned something of it, or is asking.
    Other,
    /// Its job was disabled, and it is a run of the schedule; or its job is gone.
    Disabled,
}

impl Store {
    /// None: it is not in doubt any more.
    pub async fn in_doubt(&self, run_id: i64) -> Result<Option<InDoubt>> {
        let text = "SELECT run.id, run.job_id, run.shard, run.epoch, run.cause, run.fire_no, run.part, run.parts, run.attempt, \
                    run.scheduled_at, run.due_at, app.name, run.address, run.marked_at, run.sends, run.boot_id, run.journal_id, run.revision \
                    FROM run LEFT JOIN app ON app.id = run.app_id WHERE run.id = ? AND run.state = 1";
        let Some(row) = self
            .one(self.hot_reads(), text, vec![run_id.into()])
            .await?
        else {
            return Ok(None);
        };
        let mut columns = Columns::of(&row);
        let run = Waiting {
            run_id: columns.next()?,
            job_id: columns.next()?,
            shard: columns.next()?,
            epoch: columns.next()?,
            cause: columns.code(Cause::from_code)?,
            fire_no: columns.next()?,
            part: columns.next()?,
            parts: columns.next()?,
            attempt: columns.next()?,
            scheduled_at: columns.next()?,
            due_at: columns.next()?,
            bound_to: None,
            overlaps: false,
        };
        Ok(Some(InDoubt {
            run,
            app: columns.next()?,
            address: columns.next()?,
            marked_at: columns.next::<Option<Millis>>()?.unwrap_or_default(),
            sends: columns.next()?,
            boot_id: columns.next()?,
            journal_id: columns.next()?,
            revision: columns.next()?,
        }))
    }

    /// Allows one more sending of a run to the executor that has or has not got it. The job is locked as an edit locks it:
    /// once somebody was told that a job is disabled, its schedule's runs start no more.
    pub async fn mark_again(
        &self,
        doubt: &InDoubt,
        token: i64,
        node: &str,
        now: Millis,
    ) -> Result<Again> {
        let tx = self.begin().await?;
        let text = format!("SELECT enabled FROM job WHERE id = ?{}", self.for_update());
        let job = self.one(&tx, &text, vec![doubt.run.job_id.into()]).await?;
        let Some(job) = job else {
            return Ok(Again::Disabled);
        };
        if !job.try_get_by_index::<bool>(0)? && doubt.run.cause == Cause::Schedule {
            return Ok(Again::Disabled);
        }
        let text = "UPDATE run SET sends = sends + 1, mark_token = ?, marked_at = ?, owner = ? WHERE id = ? AND state = 1 AND marked_at = ?";
        let values = vec![
            token.into(),
            now.into(),
            node.into(),
            doubt.run.run_id.into(),
            doubt.marked_at.into(),
        ];
        let done = self.execute(&tx, text, values).await?.rows_affected();
        tx.commit().await?;
        Ok(match done {
            1 => Again::Marked,
            _ => Again::Other,
        })
    }
}
