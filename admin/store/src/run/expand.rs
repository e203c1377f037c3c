//! A run becomes the parts of its fire: one for each executor of a broadcast, or those that were asked for.

use std::iter::{once, zip};

use carillon_scheduler::{Cause, Parts};

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{int, long, text};
use crate::error::Result;
use crate::run::adopt::ClaimedRun;
use crate::run::lock::LockMode;
use crate::views::RunStore;

/// What a run is split into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expansion {
    /// One part for each of these addresses, which alone may have it.
    Broadcast(Vec<String>),
    /// The parts that were asked for with the fire, or else those of its job. Each goes where the job's route sends it.
    Parts,
}

/// All parts but the first, which is the run itself; what is the same in all of them comes from its row. PostgreSQL reads a NULL in the
/// list as an empty text.
pub(crate) static INSERT_PARTS: Bulk = Bulk::text(
    &[long("id"), int("part"), text("address", "VARCHAR(255)")],
    "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, owner, sends, address, \
     follow) SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, u.part, run.parts, run.attempt, run.scheduled_at, \
     run.due_at, {state.claimed}, run.epoch, :node, 0, NULLIF(u.address, ''), run.follow FROM {list} {join} run{index PRIMARY} ON run.id = :run",
);

/// What a fire is to consist of.
struct NewParts {
    /// Of each part.
    addresses: Vec<Option<String>>,
    /// The parameters of each part. None: each has those of the fire.
    texts: Option<Vec<String>>,
}

impl RunStore<'_> {
    /// Fixes the parts of a fire: the run becomes part 0, and a run is added for each other one. As many statements for two parts as
    /// for a thousand. Empty: it is expanded already, or is no longer ours to expand.
    pub async fn expand(self, run: &ClaimedRun, expansion: &Expansion, node: &str) -> Result<Vec<ClaimedRun>> {
        let new = match expansion {
            Expansion::Broadcast(addresses) => {
                NewParts { addresses: addresses.iter().cloned().map(Some).collect(), texts: None }
            }
            Expansion::Parts => {
                let parts = self.parts_of(run).await?;
                // Since it was routed its job was edited: it is not split any more.
                let count = if parts.count() > 1 { parts.count() } else { 0 };
                let texts = parts.texts().map(<[String]>::to_vec);
                NewParts { addresses: vec![None; count.unsigned_abs() as usize], texts }
            }
        };
        let Some((first, others)) = new.addresses.split_first() else {
            return Ok(vec![]);
        };
        let ids = self.take_ids(&crate::db::ids::RUN, others.len()).await?;
        let parts = new.addresses.len() as i32;
        let tx = self.begin().await?;
        // An edit that cancels what waits of this job would not see parts that are added beside it.
        self.lock_jobs(&tx, [run.job_id], LockMode::Wait).await?;
        let text = "UPDATE run SET parts = ?, address = ? WHERE id = ? AND state = {state.claimed} AND epoch = ? AND address IS NULL \
                    AND parts = 1";
        let values = values![parts, first.clone(), run.run_id, run.epoch];
        if self.execute(&tx, text, values).await? == 0 {
            return Ok(vec![]);
        }
        if !others.is_empty() {
            let rows: Vec<_> =
                ids.iter().zip(1i32..).zip(others).map(|((id, part), at)| (*id, part, at.as_deref())).collect();
            self.bulk(&tx, &INSERT_PARTS, &named![node, run: run.run_id], &rows).await?;
        }
        match &new.texts {
            Some(texts) => self.give_texts(&tx, run, &ids, texts).await?,
            // Nothing is given with a fire of the schedule.
            None if run.cause != Cause::Schedule && !ids.is_empty() => self.copy_input(&tx, run, &ids).await?,
            None => {}
        }
        tx.commit().await?;
        let part = |(part, (run_id, address)): (i32, (i64, Option<String>))| {
            let bound_to = address.or_else(|| run.bound_to.clone());
            ClaimedRun { run_id, part, parts, bound_to, ..run.clone() }
        };
        Ok(zip(0i32.., zip(once(run.run_id).chain(ids), new.addresses)).map(part).collect())
    }

    /// The parts that were asked for with a fire, or those of its job. Parameters that a person or a program has given take the place
    /// of the texts of the job's list; a parent's result does not.
    async fn parts_of(self, run: &ClaimedRun) -> Result<Parts> {
        let text = "SELECT job.parts, i.params IS NOT NULL, i.parts, i.part_params FROM job LEFT JOIN run_input i ON i.run_id = ? \
                    WHERE job.id = ?";
        let values = values![run.run_id, run.job_id];
        let found: Option<(i32, bool, Option<i32>, Option<String>)> =
            self.tuple(&self.engine_reads, text, values).await?;
        let Some((own, is_given, asked, texts)) = found else {
            return Ok(Parts::default());
        };
        if let Some(texts) = texts.and_then(|texts| serde_json::from_str(&texts).ok()) {
            return Ok(Parts::Each(texts));
        }
        if asked.is_some() || (is_given && run.cause != Cause::Child) {
            return Ok(Parts::Count(asked.unwrap_or(own)));
        }
        let text = "SELECT params FROM job_part WHERE job_id = ? ORDER BY part";
        let texts: Vec<String> = self.tuples(&self.engine_reads, text, values![run.job_id]).await?;
        Ok(if texts.is_empty() { Parts::Count(own) } else { Parts::Each(texts) })
    }

    /// Each part gets its text; the other parts go to the address of the first one, if one was given with the fire.
    async fn give_texts(self, tx: &Transaction, run: &ClaimedRun, ids: &[i64], texts: &[String]) -> Result<()> {
        const COLUMNS: &str = "run_id, params, address, is_of_part, expires_at, traceparent, priority";
        let row = |id: i64, text: &str| {
            let traceparent = run.traceparent.clone();
            values![id, text, run.bound_to.clone(), true, run.expires_at, traceparent, run.priority]
        };
        let Some((first, others)) = texts.split_first() else {
            return Ok(());
        };
        let text = "UPDATE run_input SET params = ?, is_of_part = TRUE WHERE run_id = ?";
        if self.execute(tx, text, values![first.as_str(), run.run_id]).await? == 0 {
            self.insert_rows(tx, "run_input", COLUMNS, vec![row(run.run_id, first)]).await?;
        }
        let others = zip(ids, others).map(|(id, text)| row(*id, text)).collect();
        self.insert_rows(tx, "run_input", COLUMNS, others).await
    }

    /// What was given with the fire is given to its other parts.
    async fn copy_input(self, tx: &Transaction, run: &ClaimedRun, ids: &[i64]) -> Result<()> {
        let text = "INSERT INTO run_input (run_id, params, address, expires_at, traceparent, priority) WITH part (id) AS ({ids}) \
                    SELECT part.id, given.params, given.address, given.expires_at, given.traceparent, given.priority \
                    FROM part CROSS JOIN run_input AS given WHERE given.run_id = ?";
        self.execute(tx, text, values![self.ids(ids), run.run_id]).await.map(drop)
    }
}
