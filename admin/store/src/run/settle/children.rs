//! Children: the jobs that run once after a fire has succeeded, all its parts by any of their attempts.
//!
//! Parts are settled under a lock on their part 0, attempt 1: otherwise two last parts, settled at once, would each see the
//! other open, and no child would run.

use crate::Transaction;
use std::collections::{BTreeSet, HashMap, HashSet};

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::{DbBackend, QueryResult, Value};

use crate::db::dialect;
use crate::db::dialect::Text;
use crate::db::row::Columns;
use crate::run::lock::{Held, Row};
use crate::run::settle::outcomes::Then;
use crate::{Error, Result, Store};

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
        Self { fire_no: row.fire_no, job_id: row.job_id, cause: row.cause.code() }
    }
}

/// What runs hang together with: read before the transaction, and compared inside it.
#[derive(Default)]
pub struct Ties {
    /// Links of the chain of a fixed delay.
    pub chained: Vec<i64>,
    parents: HashMap<i64, Fire>,
    fires: BTreeSet<Fire>,
    /// Part 0, attempt 1 of each fire.
    firsts: HashMap<i64, Fire>,
    children: HashMap<i64, Vec<i64>>,
}

impl Ties {
    pub fn knows(&self, run_id: i64) -> bool {
        self.parents.contains_key(&run_id)
    }

    /// A run of one of these fires.
    pub fn is_of(&self, run_id: i64, fires: &BTreeSet<Fire>) -> bool {
        let fire = self.parents.get(&run_id);
        fire.is_some_and(|fire| fires.contains(fire))
    }

    /// A run whose job has one of these as a child.
    pub fn waits_for(&self, run_id: i64, jobs: &HashSet<i64>) -> bool {
        let fire = self.parents.get(&run_id);
        let children = fire.and_then(|fire| self.children.get(&fire.job_id));
        children.is_some_and(|children| children.iter().any(|child| jobs.contains(child)))
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
    pub(crate) async fn ties_of(&self, run_ids: &[i64]) -> Result<Ties> {
        let (list, value) = dialect::id_list(self.backend, run_ids);
        let text = format!(
            "SELECT id, chained, parent, fire_no, job_id, cause FROM run WHERE id IN ({list}) AND (chained = TRUE OR parent = TRUE)"
        );
        let mut ties = Ties::default();
        for row in self.all(&self.write, &text, vec![value]).await? {
            let mut columns = Columns::of(&row);
            let (id, chained, parent) = (columns.next()?, columns.next()?, columns.next()?);
            let fire = Fire { fire_no: columns.next()?, job_id: columns.next()?, cause: columns.next()? };
            if chained {
                ties.chained.push(id);
            }
            if parent {
                ties.parents.insert(id, fire);
                ties.fires.insert(fire);
            }
        }
        let jobs: BTreeSet<i64> = ties.fires.iter().map(|fire| fire.job_id).collect();
        let jobs: Vec<i64> = jobs.into_iter().collect();
        ties.children = self.children_of(&self.write, &jobs).await?;
        ties.firsts = self.firsts_of(&ties.fires).await?;
        Ok(ties)
    }

    async fn firsts_of(&self, fires: &BTreeSet<Fire>) -> Result<HashMap<i64, Fire>> {
        if fires.is_empty() || self.is_exclusive() {
            return Ok(HashMap::new());
        }
        let values = fire_list(self.backend, fires);
        let rows = self.all(&self.write, FIRSTS.of(self.backend), values).await?;
        let first = |row: &QueryResult| {
            let mut columns = Columns::of(row);
            let id = columns.next()?;
            let fire = Fire { fire_no: columns.next()?, job_id: columns.next()?, cause: columns.next()? };
            Ok((id, fire))
        };
        rows.iter().map(first).collect()
    }

    /// Locks part 0, attempt 1 of each fire, before all other runs. Answers the fires whose lock another session has.
    pub(crate) async fn lock_fires(&self, tx: &Transaction, ties: &Ties, held: Held) -> Result<BTreeSet<Fire>> {
        if ties.firsts.is_empty() {
            return Ok(BTreeSet::new());
        }
        let ids: Vec<i64> = ties.firsts.keys().copied().collect();
        let locked = self.lock_runs(tx, &ids, held).await?;
        let fire = |id: &i64| ties.firsts.get(id).copied();
        Ok(locked.held_up.iter().filter_map(fire).collect())
    }

    /// Records the children's runs of a fire, if all its parts have succeeded and they are not there yet.
    pub(crate) async fn bear_children(&self, tx: &Transaction, fire: Fire, now: Millis, then: &mut Then) -> Result<()> {
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
    async fn bear(&self, tx: &Transaction, id: i64, child: i64, first_id: i64, now: Millis) -> Result<bool> {
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
    async fn hand_on(&self, tx: &Transaction, run_id: i64, child: i64, result: Option<&str>) -> Result<()> {
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

/// Part 0, attempt 1 of fires.
const FIRSTS: Text = Text {
    sqlite: "SELECT run.id, run.fire_no, run.job_id, run.cause FROM json_each(?) AS u CROSS JOIN run ON run.fire_no = u.value->>0 \
             AND run.job_id = u.value->>1 AND run.cause = u.value->>2 WHERE run.part = 0 AND run.attempt = 1",
    postgres: "SELECT run.id, run.fire_no, run.job_id, run.cause FROM unnest(?::bigint[], ?::bigint[], ?::smallint[]) AS u(f, j, c) \
               JOIN run ON run.fire_no = u.f AND run.job_id = u.j AND run.cause = u.c WHERE run.part = 0 AND run.attempt = 1",
    mysql: "SELECT run.id, run.fire_no, run.job_id, run.cause FROM JSON_TABLE(?, '$[*]' COLUMNS (f BIGINT PATH '$[0]', j BIGINT PATH '$[1]', \
            c SMALLINT PATH '$[2]')) AS u STRAIGHT_JOIN run FORCE INDEX (run_fire) ON run.fire_no = u.f AND run.job_id = u.j AND run.cause = u.c \
            WHERE run.part = 0 AND run.attempt = 1",
};

fn fire_list(backend: DbBackend, fires: &BTreeSet<Fire>) -> Vec<Value> {
    if backend == DbBackend::Postgres {
        return vec![
            fires.iter().map(|it| it.fire_no).collect::<Vec<_>>().into(),
            fires.iter().map(|it| it.job_id).collect::<Vec<_>>().into(),
            fires.iter().map(|it| it.cause).collect::<Vec<_>>().into(),
        ];
    }
    let rows: Vec<_> = fires.iter().map(|it| (it.fire_no, it.job_id, it.cause)).collect();
    vec![serde_json::to_string(&rows).unwrap_or_default().into()]
}

fn read(row: &QueryResult) -> Result<Part> {
    let mut columns = Columns::of(row);
    Ok(Part {
        id: columns.next()?,
        part: columns.next()?,
        parts: columns.next()?,
        attempt: columns.next()?,
        // A state of a newer version is none of ours that has succeeded.
        succeeded: RunState::from_code(columns.next()?) == Some(RunState::Succeeded),
        result: columns.next()?,
    })
}

/// The fire's first run and what it hands on, if every part has succeeded. `parts` are in the order of part and attempt.
fn outcome(parts: Vec<Part>) -> Option<(i64, Option<String>)> {
    let first = parts.first().filter(|run| run.part == 0 && run.attempt == 1)?;
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
