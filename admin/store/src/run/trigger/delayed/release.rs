//! The second source of a claim: triggers that are near become runs of the holder of their shard, under the fence of its lease.

use std::borrow::Cow;

use carillon_scheduler::{Millis, RunReason};
use foldhash::HashMap;

use crate::db::failpoint;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{ListColumn, long};
use crate::error::{Error, Result};
use crate::run::claim::HeldLease;
use crate::run::lock::LockMode;
use crate::views::DelayedStore;

/// A trigger that is inside the look-ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueTrigger {
    pub id: i64,
    pub job_id: i64,
    pub due_at: Millis,
    /// 0: never.
    pub expires_at: Millis,
}

/// A run that takes the place of a trigger.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriggerRun {
    pub run_id: i64,
    pub trigger: DueTrigger,
    /// When it was scheduled, and when it is due.
    pub times: (Millis, Millis),
}

/// What a release has made of its triggers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// Runs that are `claimed` under the holder's epoch.
    pub runs: Vec<i64>,
    /// Runs that are cancelled, because they were reached too late.
    pub expired: u64,
    /// Triggers that became nothing, because their jobs are gone, or that are elsewhere by now.
    pub gone: usize,
    /// Triggers that stay, because another session holds their jobs.
    pub held_up: Vec<DueTrigger>,
}

/// The lower bound keeps PostgreSQL from walking over the places of triggers that are gone, as in the search for due jobs.
pub(crate) const DUE_TRIGGERS: &str = "SELECT id, job_id, due_at, expires_at FROM delayed_trigger WHERE shard = ? AND due_at >= {?} AND due_at <= {?} \
     ORDER BY shard, due_at, id LIMIT ?";

/// The id of the run, the trigger and its place, and the times of the run.
const LIST: &[ListColumn] =
    &[long("run_id"), long("id"), long("place"), long("scheduled_at"), long("due_at"), long("expires_at")];

/// The runs of triggers that still are where they were found, and whose job is there.
pub(crate) static INSERT_RELEASED: Bulk = Bulk::text(
    LIST,
    "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, \
     follow) SELECT u.run_id, j.id, j.app_id, d.shard, {cause.delayed}, d.id, 0, 1, 1, u.scheduled_at, u.due_at, {state.claimed}, :epoch, :node, 0, \
     j.follow FROM {list} {join} delayed_trigger AS d{index PRIMARY} ON d.shard = :shard AND d.due_at = u.place AND d.id = u.id \
     {join} job AS j{index PRIMARY} ON j.id = d.job_id",
);

/// What the triggers were given goes to their runs, with the time until which they may begin.
pub(crate) static MOVE_INPUT: Bulk = Bulk::update(
    LIST,
    Update {
        table: "run_input",
        index: "PRIMARY",
        on: "run_input.run_id = u.id",
        set: &[("run_id", "u.run_id"), ("expires_at", "NULLIF(u.expires_at, 0)")],
        only_if: "",
    },
);

impl DelayedStore<'_> {
    /// Triggers of a shard that are due between these moments, earliest first.
    pub async fn due(self, shard: i32, from: Millis, until: Millis, limit: usize) -> Result<Vec<DueTrigger>> {
        self.due_except(shard, (from, until), &[], limit).await
    }

    /// The same without those of these apps.
    pub async fn due_except(
        self,
        shard: i32,
        (from, until): (Millis, Millis),
        apps: &[i64],
        limit: usize,
    ) -> Result<Vec<DueTrigger>> {
        let values = values![shard, from, until, limit as i64];
        let text = due_text(apps);
        let rows = self.integers(&self.engine_reads, &text, values).await?.into_iter();
        let trigger = |[id, job_id, due_at, expires_at]: [i64; 4]| DueTrigger { id, job_id, due_at, expires_at };
        let mut found: Vec<DueTrigger> = rows.map(trigger).collect();
        found.sort_unstable_by_key(|due| (due.due_at, due.id));
        Ok(found)
    }

    /// Makes runs of triggers under their shard's epoch. Those of jobs that are gone become nothing; those that were moved or cancelled
    /// since they were found stay as they are, and those whose jobs another session holds: one such session would stop the schedules of
    /// the whole shard.
    ///
    /// # Errors
    /// `Fenced`: the shard has another holder, nothing is written.
    pub async fn release(self, holder: &HeldLease<'_>, due: &[DueTrigger], now: Millis) -> Result<Released> {
        if due.is_empty() {
            return Ok(Released::default());
        }
        let run_ids = self.take_ids(&ids::RUN, due.len()).await?;
        let tx = self.begin().await?;
        self.leases().fence(&tx, holder.shard, holder.epoch, now, holder.ttl_ms).await?;
        let job_ids = due.iter().map(|due| due.job_id);
        let held = self.runs().lock_jobs(&tx, job_ids, LockMode::SkipLocked).await?.held_up;
        let (held_up, free): (Vec<DueTrigger>, Vec<_>) = due.iter().partition(|due| held.contains(&due.job_id));
        if free.is_empty() {
            tx.rollback().await?;
            return Ok(Released { held_up, ..Released::default() });
        }
        let (present, orphans) = self.present(&tx, &free).await?;
        self.discard_in(&tx, &orphans).await?;
        let gone = free.len() - present.len();
        // How long a run may wait for an executor counts from its release: one that was reached late has waited for no executor yet.
        let times = |trigger: &DueTrigger| (trigger.due_at, trigger.due_at.max(now));
        let made: Vec<TriggerRun> = run_ids
            .into_iter()
            .zip(present)
            .map(|(run_id, trigger)| TriggerRun { run_id, trigger, times: times(&trigger) })
            .collect();
        self.make_runs(&tx, &made, holder.shard, (holder.epoch, Some(holder.node))).await?;
        let (late, runs): (Vec<_>, Vec<_>) = made.into_iter().partition(|made| made.trigger.is_expired(now));
        let (late, runs) = (ids_of(late), ids_of(runs));
        let (expired, followed) = match late.is_empty() {
            true => (0, vec![]),
            false => self.runs().end_claimed(&tx, &late, RunReason::Misfire, now).await?,
        };
        tx.commit().await?;
        failpoint::hit("after_claim_commit");
        self.runs().try_to_advance(&followed, now).await;
        Ok(Released { runs, expired, gone, held_up })
    }

    /// The triggers that are where they were found, and the ids of those whose jobs are gone. The jobs are locked, so neither changes
    /// until the transaction ends.
    async fn present(self, tx: &Transaction, due: &[DueTrigger]) -> Result<(Vec<DueTrigger>, Vec<i64>)> {
        let text = "SELECT d.id, d.due_at, job.id FROM delayed_trigger AS d LEFT JOIN job ON job.id = d.job_id WHERE d.id IN ({ids})";
        let ids: Vec<i64> = due.iter().map(|due| due.id).collect();
        let rows: Vec<(i64, Millis, Option<i64>)> = self.tuples(tx, text, values![self.ids(&ids)]).await?;
        let gone = rows.iter().filter(|(_, _, job_id)| job_id.is_none()).map(|(id, ..)| *id).collect();
        let places: HashMap<i64, Millis> =
            rows.iter().filter(|(_, _, job_id)| job_id.is_some()).map(|(id, at, _)| (*id, *at)).collect();
        let is_there = |due: &&DueTrigger| places.get(&due.id) == Some(&due.due_at);
        Ok((due.iter().filter(is_there).copied().collect(), gone))
    }

    /// Replaces triggers by runs. Their jobs are there, and are locked.
    pub(crate) async fn make_runs(
        self,
        tx: &Transaction,
        made: &[TriggerRun],
        shard: i32,
        (epoch, node): (i64, Option<&str>),
    ) -> Result<()> {
        if made.is_empty() {
            return Ok(());
        }
        let row = |made: &TriggerRun| {
            let (trigger, (scheduled_at, due_at)) = (&made.trigger, made.times);
            (made.run_id, trigger.id, trigger.due_at, scheduled_at, due_at, trigger.expires_at)
        };
        let mut list: Vec<(i64, i64, Millis, Millis, Millis, Millis)> = made.iter().map(row).collect();
        list.sort_unstable();
        let count =
            self.bulk(tx, &INSERT_RELEASED, &named![shard, epoch, node: node.map(str::to_owned)], &list).await?;
        if count != list.len() as u64 {
            let all = list.len();
            return Err(Error::Corrupt(format!(
                "{count} of {all} delayed triggers became runs: a row is in another shard"
            )));
        }
        self.bulk(tx, &MOVE_INPUT, &[], &list).await?;
        let ids: Vec<i64> = list.iter().map(|(_, id, ..)| *id).collect();
        self.delete_by_id(tx, "delayed_trigger", "id", &ids).await.map(drop)
    }
}

/// The apps are few: those that are paused. What of theirs is due is walked over, but not read.
fn due_text(apps: &[i64]) -> Cow<'static, str> {
    if apps.is_empty() {
        return DUE_TRIGGERS.into();
    }
    let apps = apps.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let unless = format!(
        "AND NOT EXISTS (SELECT 1 FROM job WHERE job.id = delayed_trigger.job_id AND job.app_id IN ({apps})) ORDER BY"
    );
    DUE_TRIGGERS.replace("ORDER BY", &unless).into()
}

impl DueTrigger {
    fn is_expired(&self, now: Millis) -> bool {
        self.expires_at != 0 && self.expires_at < now
    }
}

fn ids_of(made: Vec<TriggerRun>) -> Vec<i64> {
    made.into_iter().map(|made| made.run_id).collect()
}
