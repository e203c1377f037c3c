//! Children: the jobs that run once after a fire has succeeded, all its parts by any of their attempts.
//!
//! Parts are settled under a lock on their part 0, attempt 1: otherwise two last parts, settled at once, would each see the
//! other open, and no child would run.

use crate::store::Transaction;
use std::collections::{BTreeSet, HashMap, HashSet};

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::{QueryResult, Value};

use super::Then;
use crate::store::row::Columns;
use crate::store::run_lock::Row;
use crate::store::{Error, Result, Store, dialect};

/// Handed on at most, in bytes: what parameters may have.
const RESULT_LIMIT: usize = 65_536;

/// The fire of a job that has children, in the order in which fires are locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fire {
    fire_no: i64,
    job_id: i64,
    cause: i16,
}

impl Fire {
    pub fn of(row: &Row) -> Self {
        Self {
            fire_no: row.fire_no,
            job_id: row.job_id,
            cause: row.cause.code(),
        }
    }
}

/// What runs hang together with: read before the transaction, and compared inside it.
#[derive(Default)]
pub struct Ties {
    /// Links of the chain of a fixed delay.
    pub chained: Vec<i64>,
    parents: HashSet<i64>,
    fires: BTreeSet<Fire>,
    children: HashMap<i64, Vec<i64>>,
}

impl Ties {
    pub fn knows(&self, run_id: i64) -> bool {
        self.parents.contains(&run_id)
    }

    /// So many runs of children there may be.
    pub fn births(&self) -> usize {
        let of = |fire: &Fire| self.children.get(&fire.job_id).map_or(0, Vec::len);
        self.fires.iter().map(of).sum()
    }

    pub fn all_children(&self) -> Vec<i64> {
        self.children.values().flatten().copied().collect()
    }
}

/// A run of a parent's fire.
struct Part {
    id: i64,
    part: i32,
    parts: i32,
    attempt: i32,
    succeeded: bool,
    result: Option<String>,
}

impl Store {
    pub(super) async fn ties_of(&self, run_ids: &[i64]) -> Result<Ties> {
        let (list, value) = dialect::id_list(self.backend, run_ids);
        let text = format!(
            "SELECT id, chained, parent, fire_no, job_id, cause FROM run WHERE id IN ({list}) AND (chained = TRUE OR parent = TRUE)"
        );
        let mut ties = Ties::default();
        for row in self.all(&self.write, &text, vec![value]).await? {
            let mut columns = Columns::of(&row);
            let (id, chained, parent) = (columns.next()?, columns.next()?, columns.next()?);
            let fire = Fire {
                fire_no: columns.next()?,
                job_id: columns.next()?,
                cause: columns.next()?,
            };
            if chained {
                ties.chained.push(id);
            }
            if parent {
                ties.parents.insert(id);
                ties.fires.insert(fire);
            }
        }
        let jobs: BTreeSet<i64> = ties.fires.iter().map(|fire| fire.job_id).collect();
        let jobs: Vec<i64> = jobs.into_iter().collect();
        ties.children = self.children_of(&self.write, &jobs).await?;
        Ok(ties)
    }

    /// Part 0, attempt 1 of each fire. They come before all other runs; a run of the list that is the first of another fire
    /// may still be locked by somebody the other way round, which ends as a deadlock that is tried again.
    pub(super) async fn lock_fires(&self, tx: &Transaction, ties: &Ties) -> Result<()> {
        for fire in &ties.fires {
            let text = format!(
                "SELECT id FROM run WHERE fire_no = ? AND job_id = ? AND cause = ? AND part = 0 AND attempt = 1{}",
                self.for_update()
            );
            self.all(tx, &text, fire.key()).await?;
        }
        Ok(())
    }

    /// Records the children's runs of a fire, if all its parts have succeeded and they are not there yet.
    pub(super) async fn bear_children(
        &self,
        tx: &Transaction,
        fire: Fire,
        now: Millis,
        then: &mut Then,
    ) -> Result<()> {
        let text = "SELECT id, part, parts, attempt, state, result_msg FROM run WHERE fire_no = ? AND job_id = ? AND cause = ? \
                    ORDER BY part, attempt";
        let rows = self.all(tx, text, fire.key()).await?;
        let parts: Vec<Part> = rows.iter().map(read).collect::<Result<_>>()?;
        let Some((first_id, result)) = outcome(parts) else {
            return Ok(());
        };
        let children = self.children_of(tx, &[fire.job_id]).await?;
        for child in children.into_values().flatten() {
            // Deleted, or named a moment ago: then everything is looked at anew.
            let Some(shard) = then.jobs.get(&child).map(|job| job.shard) else {
                if self.exists(tx, child).await? {
                    return Err(Error::Busy);
                }
                continue;
            };
            let id = then.runs.pop().ok_or(Error::Busy)?;
            if self.bear(tx, id, child, first_id, now).await? {
                self.hand_on(tx, id, child, result.as_deref()).await?;
                then.settled.to_scan.push(shard);
            }
        }
        Ok(())
    }

    async fn exists(&self, tx: &Transaction, job_id: i64) -> Result<bool> {
        let text = "SELECT id FROM job WHERE id = ?";
        Ok(self.one(tx, text, vec![job_id.into()]).await?.is_some())
    }

    /// A child's fire is known by its parent fire's first run, so there is one for each parent fire.
    async fn bear(
        &self,
        tx: &Transaction,
        id: i64,
        child: i64,
        first_id: i64,
        now: Millis,
    ) -> Result<bool> {
        let text = "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, parent) \
                    SELECT ?, id, app_id, shard, ?, ?, 0, 1, 1, ?, ?, 0, 0, 0, parent FROM job WHERE id = ? \
                    AND NOT EXISTS (SELECT 1 FROM run AS born WHERE born.fire_no = ? AND born.job_id = ? AND born.cause = ?)";
        let cause = Cause::Child.code();
        let values: Vec<Value> = vec![
            id.into(),
            cause.into(),
            first_id.into(),
            now.into(),
            now.into(),
            child.into(),
            first_id.into(),
            child.into(),
            cause.into(),
        ];
        Ok(self.execute(tx, text, values).await?.rows_affected() == 1)
    }

    /// The parent's result, unless the child has parameters of its own.
    async fn hand_on(
        &self,
        tx: &Transaction,
        run_id: i64,
        child: i64,
        result: Option<&str>,
    ) -> Result<()> {
        let Some(result) = result else {
            return Ok(());
        };
        let text = "INSERT INTO run_input (run_id, params, address) SELECT ?, ?, NULL FROM job WHERE id = ? \
                    AND NOT EXISTS (SELECT 1 FROM job_params WHERE job_params.job_id = job.id AND job_params.params <> '')";
        let values = vec![run_id.into(), result.into(), child.into()];
        self.execute(tx, text, values).await?;
        Ok(())
    }
}

impl Fire {
    fn key(&self) -> Vec<Value> {
        vec![self.fire_no.into(), self.job_id.into(), self.cause.into()]
    }
}

fn read(row: &QueryResult) -> Result<Part> {
    let mut columns = Columns::of(row);
    Ok(Part {
        id: columns.next()?,
        part: columns.next()?,
        parts: columns.next()?,
        attempt: columns.next()?,
        succeeded: columns.code(RunState::from_code)? == RunState::Succeeded,
        result: columns.next()?,
    })
}

/// The fire's first run and what it hands on, if every part has succeeded. `parts` are in the order of part and attempt.
fn outcome(parts: Vec<Part>) -> Option<(i64, Option<String>)> {
    let first = parts
        .first()
        .filter(|run| run.part == 0 && run.attempt == 1)?;
    let (id, count) = (first.id, usize::try_from(first.parts).ok()?);
    let mut results: Vec<Option<Option<String>>> = vec![None; count];
    for run in parts.into_iter().filter(|run| run.succeeded) {
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
            succeeded: result.is_some(),
            result: result.map(str::to_owned),
        }
    }

    #[test]
    fn a_broadcast_is_done_when_every_part_is_by_any_attempt() {
        assert_eq!(outcome(vec![]), None);
        let open = vec![part(0, 1, Some("a")), part(1, 1, None)];
        assert_eq!(outcome(open), None);
        let done = vec![
            part(0, 1, Some("a")),
            part(1, 1, None),
            part(1, 2, Some("\"b\"")),
        ];
        let handed_on = Some("[\"a\",\"\\\"b\\\"\"]".to_owned());
        assert_eq!(outcome(done), Some((1, handed_on)));
    }

    #[test]
    fn what_is_handed_on_is_no_longer_than_parameters() {
        let long = as_array(vec![Some("é\u{1}".repeat(40_000)), None, Some("ok".into())]);
        assert!(
            long.len() <= RESULT_LIMIT && long.ends_with("null,\"ok\"]"),
            "{}",
            long.len()
        );
    }
}
