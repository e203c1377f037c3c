//! Runs that were sent and of which nothing was heard: what asking about one takes.

use carillon_scheduler::{Cause, Millis};
use sea_orm::FromQueryResult;

use crate::error::Result;
use crate::run::adopt::ClaimedRun;
use crate::run::mark::is_http_request;
use crate::views::RunStore;

/// A run in `sending`, and where it was sent.
#[derive(Clone, Debug, FromQueryResult)]
pub struct UnansweredRun {
    #[sea_orm(nested)]
    pub run: ClaimedRun,
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

impl UnansweredRun {
    /// It was sent to the service of an HTTP job.
    pub fn is_http(&self) -> bool {
        is_http_request(self.boot_id.as_deref())
    }
}

/// Whether a run may be sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResendPermit {
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
     FROM run WHERE shard = ? AND state = {state.sending} AND state < {state.final} AND marked_at < {?}) AS t WHERE t.place <= ? ORDER BY t.id LIMIT ?";

/// Runs of one look at a shard.
pub const PAGE: i64 = 1_000;

impl RunStore<'_> {
    /// Runs of a shard that were marked before then and of which nothing is known, with their addresses: at most
    /// `of_each_address` of each.
    pub async fn unanswered(
        self,
        shard: i32,
        marked_before: Millis,
        of_each_address: usize,
    ) -> Result<Vec<(i64, Option<String>)>> {
        let values = values![shard, marked_before, of_each_address as i64, PAGE];
        self.tuples(&self.engine_reads, UNANSWERED, values).await
    }

    /// None: it is not in doubt any more.
    pub async fn unanswered_run(self, run_id: i64) -> Result<Option<UnansweredRun>> {
        let text = "SELECT run.id AS run_id, run.job_id, run.shard, run.epoch, run.cause, run.fire_no, run.part, run.parts, run.attempt, \
                    run.scheduled_at, run.due_at, NULL AS bound_to, NULL AS asked_parts, NULL AS overlaps, i.traceparent, app.name AS app, app.id AS app_id, run.address, \
                    COALESCE(run.marked_at, 0) AS marked_at, run.sends, run.boot_id, run.journal_id, run.revision \
                    FROM run LEFT JOIN app ON app.id = run.app_id LEFT JOIN run_input i ON i.run_id = run.id WHERE run.id = ? AND run.state = {state.sending}";
        self.one(&self.engine_reads, text, values![run_id]).await
    }

    /// Allows one more sending of a run to the executor that has or has not got it, now under this boot id. The job is
    /// locked as an edit locks it: once a change has answered that a job is disabled, its schedule's runs start no more.
    pub async fn mark_resend(
        self,
        doubt: &UnansweredRun,
        boot_id: Option<&str>,
        token: i64,
        node: &str,
        now: Millis,
    ) -> Result<ResendPermit> {
        let tx = self.begin().await?;
        let text = "SELECT enabled, revision, app_id FROM job WHERE id = ?{for_update}";
        let job: Option<(bool, i64, i64)> = self.tuple(&tx, text, values![doubt.run.job_id]).await?;
        let Some((enabled, revision, app_id)) = job else {
            return Ok(ResendPermit::Disabled);
        };
        if !enabled && doubt.run.cause == Cause::Schedule {
            return Ok(ResendPermit::Disabled);
        }
        if doubt.revision.is_some_and(|sent| sent != revision) {
            return Ok(ResendPermit::Edited { revision, same_app: doubt.app_id == Some(app_id) });
        }
        let text = "UPDATE run SET sends = sends + 1, mark_token = ?, marked_at = ?, owner = ?, boot_id = ?, revision = ? \
                    WHERE id = ? AND state = {state.sending} AND marked_at = ?";
        let values = values![token, now, node, boot_id, revision, doubt.run.run_id, doubt.marked_at];
        let done = self.execute(&tx, text, values).await?;
        tx.commit().await?;
        Ok(match done {
            1 => ResendPermit::Marked { revision },
            _ => ResendPermit::Other,
        })
    }
}
