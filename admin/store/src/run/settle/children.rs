//! Children: the jobs that run once after a fire has succeeded, all its parts by any of their attempts.
//!
//! Parts are settled under a lock on their part 0, attempt 1: otherwise two last parts, settled at once, would each see the
//! other open, and no child would run.

use crate::db::pool::transaction::Transaction;
use std::collections::BTreeSet;

use carillon_scheduler::{AlarmKind, Cause, Millis, RunState};
use foldhash::{HashMap, HashMapExt as _, HashSet};
use sea_orm::FromQueryResult;

use crate::alarm::alarms::Alarm;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{long, short};
use crate::error::{Error, Result};
use crate::run::lock::LockMode;
use crate::run::new_runs::NewRun;
use crate::run::settle::effects::{Fire, SettleEffects};
use crate::views::RunStore;

/// Handed on at most, in bytes: what parameters may have.
const RESULT_LIMIT: usize = 65_536;

/// What runs hang together with: read before the transaction, and compared inside it.
#[derive(Default)]
pub struct JobLinks {
    /// Links of the chain of a fixed delay.
    pub chained: Vec<i64>,
    parents: HashMap<i64, Fire>,
    fires: BTreeSet<Fire>,
    /// Part 0, attempt 1 of each fire.
    firsts: HashMap<i64, Fire>,
    children: HashMap<i64, Vec<i64>>,
}

impl JobLinks {
    pub fn contains(&self, run_id: i64) -> bool {
        self.parents.contains_key(&run_id)
    }

    /// A run of one of these fires.
    pub fn belongs_to(&self, run_id: i64, fires: &BTreeSet<Fire>) -> bool {
        let fire = self.parents.get(&run_id);
        fire.is_some_and(|fire| fires.contains(fire))
    }

    /// A run whose job has one of these as a child.
    pub fn is_waiting_for(&self, run_id: i64, jobs: &HashSet<i64>) -> bool {
        let fire = self.parents.get(&run_id);
        let children = fire.and_then(|fire| self.children.get(&fire.job_id));
        children.is_some_and(|children| children.iter().any(|child| jobs.contains(child)))
    }

    /// The most runs of children that may follow.
    pub fn child_count(&self) -> usize {
        let of = |fire: &Fire| self.children.get(&fire.job_id).map_or(0, Vec::len);
        self.fires.iter().map(of).sum()
    }

    pub fn all_children(&self) -> Vec<i64> {
        self.children.values().flatten().copied().collect()
    }
}

/// A run of a parent's fire.
#[derive(FromQueryResult)]
struct Part {
    id: i64,
    part: i32,
    parts: i32,
    attempt: i32,
    /// A state of a newer version is none of ours.
    state: i16,
    result: Option<String>,
}

impl RunStore<'_> {
    pub(crate) async fn job_links(self, run_ids: &[i64]) -> Result<JobLinks> {
        let text = "SELECT id, chained, parent, fire_no, job_id, cause FROM run WHERE id IN ({ids}) AND (chained = TRUE OR parent = TRUE)";
        let mut links = JobLinks::default();
        for (id, chained, parent, fire_no, job_id, cause) in
            self.tuples(&self.write, text, values![self.ids(run_ids)]).await?
        {
            if chained {
                links.chained.push(id);
            }
            if parent {
                let fire = Fire { fire_no, job_id, cause };
                links.parents.insert(id, fire);
                links.fires.insert(fire);
            }
        }
        let jobs: BTreeSet<i64> = links.fires.iter().map(|fire| fire.job_id).collect();
        let jobs: Vec<i64> = jobs.into_iter().collect();
        links.children = self.jobs().children_of(&self.write, &jobs).await?;
        links.firsts = self.firsts_of(&links.fires).await?;
        Ok(links)
    }

    async fn firsts_of(self, fires: &BTreeSet<Fire>) -> Result<HashMap<i64, Fire>> {
        if fires.is_empty() || self.is_exclusive() {
            return Ok(HashMap::new());
        }
        let rows: Vec<_> = fires.iter().map(|it| (it.fire_no, it.job_id, it.cause)).collect();
        let first = |(id, fire_no, job_id, cause)| (id, Fire { fire_no, job_id, cause });
        Ok(self.bulk_tuples(&self.write, &FIRST_RUNS, &[], &rows).await?.into_iter().map(first).collect())
    }

    /// Locks part 0, attempt 1 of each fire, before all other runs. Answers the fires whose lock another session has.
    pub(crate) async fn lock_fires(self, tx: &Transaction, links: &JobLinks, mode: LockMode) -> Result<BTreeSet<Fire>> {
        if links.firsts.is_empty() {
            return Ok(BTreeSet::new());
        }
        let ids: Vec<i64> = links.firsts.keys().copied().collect();
        let locked = self.lock_runs(tx, &ids, mode).await?;
        let fire = |id: &i64| links.firsts.get(id).copied();
        Ok(locked.held_up.iter().filter_map(fire).collect())
    }

    /// Records the children's runs of a fire, if all its parts have succeeded and they are not there yet.
    pub(crate) async fn insert_children_runs(
        self,
        tx: &Transaction,
        fire: Fire,
        now: Millis,
        effects: &mut SettleEffects,
    ) -> Result<()> {
        let text = "SELECT id, part, parts, attempt, state, result_msg AS result FROM run WHERE fire_no = ? AND job_id = ? AND cause = ? \
                    AND app_id = (SELECT app_id FROM job WHERE id = ?) ORDER BY part, attempt";
        let parts = self.all(tx, text, values![fire.fire_no, fire.job_id, fire.cause, fire.job_id]).await?;
        let Some((first_id, result)) = outcome(parts) else {
            return Ok(());
        };
        let children: Vec<i64> = self.jobs().children_of(tx, &[fire.job_id]).await?.into_values().flatten().collect();
        let startable = self.apps().startable_children(tx, fire.job_id, &children).await?;
        for child in children {
            if !startable.contains(&child) && self.exists(tx, child).await? {
                let alarm = Alarm {
                    kind: AlarmKind::ChildNotStarted,
                    job_id: Some(fire.job_id),
                    run_id: Some(first_id),
                    text: format!(
                        "job {child} was not started after run {first_id}: its app does not let the app of its parent start its jobs"
                    ),
                };
                let id = effects.rows.pop().ok_or(Error::Busy)?;
                effects.settled.alarms.push(self.alarms().raise(tx, id, alarm, now).await?);
                continue;
            }
            // Deleted, or named a moment ago: then the whole attempt is repeated.
            let Some(shard) = effects.jobs.get(&child).map(|job| job.shard) else {
                if self.exists(tx, child).await? {
                    return Err(Error::Busy);
                }
                continue;
            };
            let id = effects.runs.pop().ok_or(Error::Busy)?;
            let run =
                NewRun { id, job_id: child, cause: Cause::Child, fire_no: first_id, scheduled_at: now, due_at: now };
            if self.insert_child_run(tx, run).await? {
                self.pass_result(tx, id, child, result.as_deref()).await?;
                effects.settled.to_scan.push(shard);
            }
        }
        Ok(())
    }

    async fn exists(self, tx: &Transaction, job_id: i64) -> Result<bool> {
        Ok(self.tuple::<i64>(tx, "SELECT id FROM job WHERE id = ?", values![job_id]).await?.is_some())
    }

    /// The parent's result, unless the child has parameters of its own or does not take it.
    async fn pass_result(self, tx: &Transaction, run_id: i64, child: i64, result: Option<&str>) -> Result<()> {
        let Some(result) = result else {
            return Ok(());
        };
        let text = "INSERT INTO run_input (run_id, params, address) SELECT ?, ?, NULL FROM job WHERE id = ? AND takes_result = TRUE \
                    AND NOT EXISTS (SELECT 1 FROM job_params WHERE job_params.job_id = job.id AND job_params.params <> '')";
        let values = values![run_id, result, child];
        self.execute(tx, text, values).await.map(drop)
    }
}

/// Part 0, attempt 1 of fires.
pub(crate) static FIRST_RUNS: Bulk = Bulk::text(
    &[long("fire_no"), long("job_id"), short("cause")],
    "SELECT run.id, run.fire_no, run.job_id, run.cause FROM {list} {join} run{index run_fire} ON run.fire_no = u.fire_no \
     AND run.job_id = u.job_id AND run.cause = u.cause WHERE run.part = 0 AND run.attempt = 1",
);

/// The fire's first run and what it hands on, if every part has succeeded. `parts` are in the order of part and attempt.
fn outcome(parts: Vec<Part>) -> Option<(i64, Option<String>)> {
    let first = parts.first().filter(|run| run.part == 0 && run.attempt == 1)?;
    let (id, count) = (first.id, usize::try_from(first.parts).ok()?);
    let mut results: Vec<Option<Option<String>>> = vec![None; count];
    for run in parts.into_iter().filter(|run| run.state == RunState::Succeeded.code()) {
        let place = results.get_mut(usize::try_from(run.part).ok()?)?;
        place.get_or_insert(run.result);
    }
    let results: Vec<Option<String>> = results.into_iter().collect::<Option<_>>()?;
    match <[_; 1]>::try_from(results) {
        Ok([only]) => Some((id, only)),
        Err(all) => Some((id, Some(as_array(all)))),
    }
}

/// The results of a broadcast in the order of its parts. Each is cut to its share of what parameters may have.
fn as_array(results: Vec<Option<String>>) -> String {
    let written = |results: &[Option<String>]| serde_json::to_string(results).unwrap_or_default();
    let whole = written(&results);
    if whole.len() <= RESULT_LIMIT {
        return whole;
    }
    // A sign may take six bytes in JSON.
    let share = RESULT_LIMIT / results.len() / 6;
    let cut = |text: String| text[..text.floor_char_boundary(share)].to_owned();
    let cut: Vec<Option<String>> = results.into_iter().map(|result| result.map(cut)).collect();
    written(&cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(part: i32, attempt: i32, result: Option<&str>) -> Part {
        Part {
            id: i64::from(part * 10 + attempt),
            part,
            parts: 2,
            attempt,
            state: if result.is_some() { RunState::Succeeded } else { RunState::Failed }.code(),
            result: result.map(str::to_owned),
        }
    }

    #[test]
    fn a_broadcast_is_done_when_every_part_is_by_any_attempt() {
        assert_eq!(outcome(vec![]), None);
        let open = vec![part(0, 1, Some("a")), part(1, 1, None)];
        assert_eq!(outcome(open), None);
        let done = vec![part(0, 1, Some("a")), part(1, 1, None), part(1, 2, Some("\"b\""))];
        let handed_on = Some("[\"a\",\"\\\"b\\\"\"]".to_owned());
        assert_eq!(outcome(done), Some((1, handed_on)));
    }

    #[test]
    fn what_is_handed_on_is_no_longer_than_parameters() {
        let long = as_array(vec![Some("é\u{1}".repeat(40_000)), None, Some("ok".into())]);
        assert!(long.len() <= RESULT_LIMIT && long.ends_with("null,\"ok\"]"), "{}", long.len());
    }
}
