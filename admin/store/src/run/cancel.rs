//! Looking after single runs: whom to ask about one, ending one, and finding those that need a hand.

use foldhash::{HashMap, HashMapExt as _};

use carillon_scheduler::{AuditAction, Millis, RunReason, RunState};
use sea_orm::ConnectionTrait;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::change::PendingEntry;
use crate::audit::entry::AuditObject;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::OpenRuns;
use crate::db::sql::list::IDS;
use crate::db::sql::retry;
use crate::db::sql::rows::Code;
use crate::error::Result;
use crate::run::follow_up;
use crate::run::lock::{LockMode, LockedRun};
use crate::run::mark::is_http_request;
use crate::views::RunStore;

row_struct! {
    /// Where a run is or was, for asking its executor.
    #[derive(Clone, Debug)]
    pub struct RunLocation {
        pub run_id: i64,
        pub job_id: i64,
        pub app: Option<String>,
        pub state: RunState as Code,
        pub address: Option<String>,
        /// The wire's `logDateTime`.
        pub due_at: Millis,
        pub sends: i32,
        /// It is a workflow on its way: no executor has it.
        pub is_held: i32,
        /// The start of the executor that it was sent to, or [`HTTP_REQUEST`](crate::run::mark::HTTP_REQUEST).
        pub boot_id: Option<String>,
    }
}

impl RunLocation {
    /// It was sent to the service of an HTTP job.
    pub fn is_http(&self) -> bool {
        is_http_request(self.boot_id.as_deref())
    }
}

pub(crate) static CANCEL: Bulk = Bulk::update_runs(
    IDS,
    &[("state", "{state.cancelled}"), ("reason", ":reason"), ("finished_at", ":now")],
    "{+run.state} = {state.claimed}",
);

pub(crate) const NEXT_UNANSWERED: &str = "SELECT MIN(marked_at) FROM run WHERE shard = ? AND state = {state.sending} AND state < {state.final} AND marked_at >= ?";

pub(crate) static OPEN_RUNS: Bulk =
    Bulk::open_runs(OpenRuns { select: "run.state, COUNT(*)", states: &[], only_if: "", rest: "GROUP BY run.state" });

/// The same by app.
pub(crate) static OPEN_RUNS_OF_APPS: Bulk = Bulk::open_runs(OpenRuns {
    select: "run.app_id, run.state, COUNT(*)",
    states: &[],
    only_if: "",
    rest: "GROUP BY run.app_id, run.state",
});

/// What a request to end a run has come to, before its executor is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillRequest {
    /// The run had not been sent, and never will be.
    Cancelled,
    /// The request is on the row: the holder of the shard asks the executor, if this node does not.
    Noted,
    /// There is nothing to end.
    Ended,
}

impl RunStore<'_> {
    pub async fn run_location(self, run_id: i64) -> Result<Option<RunLocation>> {
        let text = "SELECT run.id AS run_id, run.job_id, app.name AS app, run.state, run.address, run.due_at, run.sends, run.boot_id, \
                    CASE WHEN run.follow & {follow.held} <> 0 THEN 1 ELSE 0 END AS is_held \
                    FROM run LEFT JOIN app ON app.id = run.app_id WHERE run.id = ?";
        self.one(&self.engine_reads, text, values![run_id]).await
    }

    /// Ends runs that were never sent. Answers how many were still `claimed`.
    pub async fn cancel(self, run_ids: &[i64], reason: RunReason, now: Millis) -> Result<u64> {
        if run_ids.is_empty() {
            return Ok(0);
        }
        let (done, followed) = retry::on_conflict(async || {
            let tx = self.begin().await?;
            let done = self.end_claimed(&tx, run_ids, reason, now).await?;
            tx.commit().await?;
            Ok(done)
        })
        .await?;
        self.try_to_advance(&followed, now).await;
        Ok(done)
    }

    /// The same inside a transaction. Answers too the runs whose ends others follow.
    pub(crate) async fn end_claimed(
        self,
        tx: &Transaction,
        run_ids: &[i64],
        reason: RunReason,
        now: Millis,
    ) -> Result<(u64, Vec<i64>)> {
        let locked = self.lock_runs(tx, run_ids, LockMode::Wait).await?;
        let followed = self.follow_cancelled(tx, locked.by_id.values(), now).await?;
        Ok((self.cancel_in(tx, run_ids, reason, now).await?, followed))
    }

    /// Notes what follows from those of these locked runs that are `claimed` and are cancelled in the same transaction. Answers which
    /// they are.
    pub(crate) async fn follow_cancelled(
        self,
        tx: &Transaction,
        runs: impl Iterator<Item = &LockedRun>,
        now: Millis,
    ) -> Result<Vec<i64>> {
        let claimed = runs.filter(|run| run.state == RunState::Claimed);
        let ends: Vec<_> = claimed.flat_map(|run| follow_up::after(run, true, RunState::Cancelled)).collect();
        self.insert_follow_ups(tx, &ends, now).await?;
        Ok(ends.iter().map(|end| end.run_id).collect())
    }

    /// The runs have ended in any case: what does not follow now follows in the next round of what looks for forgotten ends.
    pub(crate) async fn try_to_advance(self, run_ids: &[i64], now: Millis) {
        if let Err(error) = self.advance(run_ids, now).await {
            tracing::warn!(%error, "what follows from cancelled runs is done later");
        }
    }

    /// Cancels without a look at what follows, which the transaction sees to.
    pub(crate) async fn cancel_in(
        self,
        db: &impl ConnectionTrait,
        run_ids: &[i64],
        reason: RunReason,
        now: Millis,
    ) -> Result<u64> {
        match run_ids.is_empty() {
            true => Ok(0),
            false => self.bulk(db, &CANCEL, &named![reason: reason.as_str(), now], run_ids).await,
        }
    }

    /// Cancels a run that was not sent, or notes that its end is asked for, before its executor is: a faster callback must find it.
    /// A person's request leaves its audit entry in the same transaction. None: there is no such run.
    pub async fn request_kill(self, run_id: i64, now: Millis, actor: Option<&Actor>) -> Result<Option<KillRequest>> {
        let audit = match actor {
            Some(actor) => Some(self.audit().pending_entry(actor, now).await?),
            None => None,
        };
        let (done, followed) = retry::on_conflict(|| self.try_request_kill(run_id, now, audit)).await?;
        self.try_to_advance(&followed, now).await;
        Ok(done)
    }

    async fn try_request_kill(
        self,
        run_id: i64,
        now: Millis,
        audit: Option<PendingEntry<'_>>,
    ) -> Result<(Option<KillRequest>, Vec<i64>)> {
        let tx = self.begin_change().await?;
        let Some(app_id) = self.tuple(&tx, "SELECT app_id FROM run WHERE id = ?", values![run_id]).await? else {
            return Ok((None, vec![]));
        };
        let (cancelled, followed) = self.end_claimed(&tx, &[run_id], RunReason::Operator, now).await?;
        let (done, outcome) = if cancelled == 1 {
            (KillRequest::Cancelled, "cancelled")
        } else if self.note_kill_request(&tx, run_id, now).await? {
            self.note_held(&tx, run_id, now).await?;
            (KillRequest::Noted, "asked")
        } else {
            (KillRequest::Ended, "already_ended")
        };
        if let Some(audit) = audit {
            let object = AuditObject::run(run_id, app_id);
            audit.write(&tx, AuditAction::Kill, object, json!({"outcome": outcome})).await?;
        }
        tx.commit().await?;
        Ok((Some(done), followed))
    }

    async fn note_kill_request(self, db: &impl ConnectionTrait, run_id: i64, now: Millis) -> Result<bool> {
        let text = "UPDATE run SET kill_asked_at = COALESCE(kill_asked_at, ?) WHERE id = ? AND state IN ({state.sending}, {state.running}, {state.unknown}, {state.lost})";
        Ok(self.execute(db, text, values![now, run_id]).await? == 1)
    }

    /// The executor would not: nothing was asked after all.
    pub async fn clear_kill_request(self, run_id: i64) -> Result<()> {
        let text = "UPDATE run SET kill_asked_at = NULL WHERE id = ? AND state < {state.final}";
        self.execute(&self.changes, text, values![run_id]).await.map(drop)
    }

    /// When the earliest of the others was marked.
    pub async fn next_unanswered(self, shard: i32, marked_before: Millis) -> Result<Option<Millis>> {
        let values = values![shard, marked_before];
        Ok(self.tuple::<Option<_>>(&self.engine_reads, NEXT_UNANSWERED, values).await?.flatten())
    }

    /// How many runs are open, by state, in shards of these numbers.
    pub async fn open_runs(self, shards: i32) -> Result<Vec<(RunState, i64)>> {
        let all: Vec<i64> = (0..i64::from(shards)).collect();
        let rows = self.bulk_tuples::<(i16, i64), _>(&self.engine_reads, &OPEN_RUNS, &[], &all).await?;
        Ok(rows.into_iter().filter_map(|(state, count)| Some((RunState::from_code(state)?, count))).collect())
    }

    /// How many runs are open, by app and state, in shards of these numbers. An app is its name; a deleted one is left out.
    pub async fn open_runs_of_apps(self, shards: i32) -> Result<Vec<(String, RunState, i64)>> {
        let all: Vec<i64> = (0..i64::from(shards)).collect();
        let rows = self.bulk_tuples::<(i64, i16, i64), _>(&self.engine_reads, &OPEN_RUNS_OF_APPS, &[], &all).await?;
        let names = if rows.is_empty() { HashMap::new() } else { self.apps().names().await? };
        let named = rows
            .into_iter()
            .filter_map(|(app, state, count)| Some((names.get(&app)?.clone(), RunState::from_code(state)?, count)));
        Ok(named.collect())
    }
}
