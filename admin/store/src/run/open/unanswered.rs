//! Runs that were sent and of which nothing was heard: what asking about one takes.

use carillon_scheduler::{Cause, Millis};

use crate::db::row::Columns;
use crate::run::adopt::Waiting;
use crate::{Result, Store};

/// A run in `sending`, and where it was sent.
#[derive(Clone, Debug)]
pub struct InDoubt {
    pub run: Waiting,
    /// None: the app is gone.
    pub app: Option<String>,
    pub app_id: Option<i64>,
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
    Marked {
        /// The revision of its job whose definition is to be sent.
        revision: i64,
    },
    /// Its job has another definition than the one that was sent.
    Edited {
        revision: i64,
        /// The job belongs to the app that it was sent for.
        same_app: bool,
    },
    /// Somebody else has learned something of it, or is asking.
    Other,
    /// Its job was disabled, and it is a run of the schedule; or its job is gone.
    Disabled,
}

/// The oldest of each address: an executor that answers nothing must not stand before all others.
pub(crate) const UNANSWERED: &str = "SELECT t.id, t.address FROM (SELECT id, address, ROW_NUMBER() OVER (PARTITION BY address ORDER BY id) AS place \
     FROM run WHERE shard = ? AND state = 1 AND state < 9 AND marked_at < ?) AS t WHERE t.place <= ? ORDER BY t.id LIMIT ?";

/// Runs of one look at a shard.
pub const PAGE: i64 = 1_000;

impl Store {
    /// Runs of a shard that were marked before then and of which nothing is known, with their addresses: at most so many
    /// of each.
    pub async fn unanswered(
        &self,
        shard: i32,
        marked_before: Millis,
        of_each_address: usize,
    ) -> Result<Vec<(i64, Option<String>)>> {
        let values = vec![shard.into(), marked_before.into(), (of_each_address as i64).into(), PAGE.into()];
        let rows = self.all(self.hot_reads(), UNANSWERED, values).await?;
        rows.iter().map(|row| Ok((row.try_get_by_index(0)?, row.try_get_by_index(1)?))).collect()
    }

    /// None: it is not in doubt any more.
    pub async fn in_doubt(&self, run_id: i64) -> Result<Option<InDoubt>> {
        let text = "SELECT run.id, run.job_id, run.shard, run.epoch, run.cause, run.fire_no, run.part, run.parts, run.attempt, \
                    run.scheduled_at, run.due_at, app.name, app.id, run.address, run.marked_at, run.sends, run.boot_id, run.journal_id, run.revision \
                    FROM run LEFT JOIN app ON app.id = run.app_id WHERE run.id = ? AND run.state = 1";
        let Some(row) = self.one(self.hot_reads(), text, vec![run_id.into()]).await? else {
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
            app_id: columns.next()?,
            address: columns.next()?,
            marked_at: columns.next::<Option<Millis>>()?.unwrap_or_default(),
            sends: columns.next()?,
            boot_id: columns.next()?,
            journal_id: columns.next()?,
            revision: columns.next()?,
        }))
    }

    /// Allows one more sending of a run to the executor that has or has not got it, now under this boot id. The job is
    /// locked as an edit locks it: once somebody was told that a job is disabled, its schedule's runs start no more.
    pub async fn mark_again(
        &self,
        doubt: &InDoubt,
        boot_id: Option<&str>,
        token: i64,
        node: &str,
        now: Millis,
    ) -> Result<Again> {
        let tx = self.begin().await?;
        let text = format!("SELECT enabled, revision, app_id FROM job WHERE id = ?{}", self.for_update());
        let job = self.one(&tx, &text, vec![doubt.run.job_id.into()]).await?;
        let Some(job) = job else {
            return Ok(Again::Disabled);
        };
        if !job.try_get_by_index::<bool>(0)? && doubt.run.cause == Cause::Schedule {
            return Ok(Again::Disabled);
        }
        let revision: i64 = job.try_get_by_index(1)?;
        if doubt.revision.is_some_and(|sent| sent != revision) {
            let same_app = Some(job.try_get_by_index::<i64>(2)?) == doubt.app_id;
            return Ok(Again::Edited { revision, same_app });
        }
        let text = "UPDATE run SET sends = sends + 1, mark_token = ?, marked_at = ?, owner = ?, boot_id = ?, revision = ? \
                    WHERE id = ? AND state = 1 AND marked_at = ?";
        let values = vec![
            token.into(),
            now.into(),
            node.into(),
            boot_id.map(str::to_owned).into(),
            revision.into(),
            doubt.run.run_id.into(),
            doubt.marked_at.into(),
        ];
        let done = self.execute(&tx, text, values).await?.rows_affected();
        tx.commit().await?;
        Ok(match done {
            1 => Again::Marked { revision },
            _ => Again::Other,
        })
    }
}
