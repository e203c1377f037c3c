//! Children: the jobs that run once after a fire has succeeded, all its parts by any of their attempts. What follows from the
//! last part sees all of them ended, as each end was committed before.

use carillon_scheduler::{AlarmKind, Cause, Millis, RunState};
use sea_orm::FromQueryResult;

use crate::alarm::alarms::Alarm;
use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::run::advance::advancing::{Advancing, Fire};
use crate::run::new_runs::NewRun;
use crate::views::RunStore;

/// Handed on at most, in bytes: what parameters may have.
const RESULT_LIMIT: usize = 65_536;

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
    /// Records the children's runs of a fire, if all its parts have succeeded and they are not there yet.
    pub(crate) async fn insert_children_runs(
        self,
        tx: &Transaction,
        fire: Fire,
        now: Millis,
        work: &mut Advancing,
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
                let id = work.rows.pop().ok_or(Error::Busy)?;
                work.advanced.alarms.push(self.alarms().raise(tx, id, alarm, now).await?);
                continue;
            }
            // Deleted, or named a moment ago: then the whole attempt is repeated.
            let Some(shard) = work.jobs.get(&child).map(|job| job.shard) else {
                if self.exists(tx, child).await? {
                    return Err(Error::Busy);
                }
                continue;
            };
            let id = work.runs.pop().ok_or(Error::Busy)?;
            let run =
                NewRun { id, job_id: child, cause: Cause::Child, fire_no: first_id, scheduled_at: now, due_at: now };
            if self.insert_child_run(tx, run).await? {
                self.pass_result(tx, id, child, result.as_deref()).await?;
                work.advanced.to_scan.push(shard);
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
