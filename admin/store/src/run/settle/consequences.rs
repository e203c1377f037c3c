//! What follows from settled runs: further attempts, alarms, and the end of attempts that are no longer needed. Gathered run
//! by run, and written by one statement of each kind.

use carillon_scheduler::{AlarmKind, Cause, Millis, RunState};

use crate::alarm::alarms::Alarm;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{ListColumn, int, long, short};
use crate::db::sql::text::cut;
use crate::error::Result;
use crate::run::follow_up::{FollowUp, Kind};
use crate::run::lock::LockedRun;
use crate::run::settle::effects::{Retry, SettleEffects};
use crate::run::settle::finding::{RunReport, SettleContext};
use crate::run::view::run_view::sentence;
use crate::run::{follow, follow_up};
use crate::views::RunStore;

/// Attempts that a late result has made needless.
pub static CANCEL_RETRIES: Bulk = Bulk::update(
    &[long("fire_no"), long("job_id"), short("cause"), int("part"), int("attempt")],
    Update {
        table: "run",
        index: "run_fire",
        on: "run.fire_no = u.fire_no AND run.job_id = u.job_id AND run.cause = u.cause AND run.part = u.part AND run.attempt > u.attempt",
        set: &[("state", "{state.cancelled}"), ("reason", "{reason.late_result}"), ("finished_at", ":now")],
        only_if: "{+run.state} = {state.claimed}",
    },
);

/// Id of the new attempt, of the one before, and when it is due.
pub(crate) const RETRIES: &[ListColumn] = &[long("id"), long("old"), long("due_at")];

/// The next attempts, each a run of its own. A broadcast's part goes to the executor of its number in the list of that time,
/// so the address is not copied.
pub static RETRY: Bulk = Bulk::text(
    RETRIES,
    "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, follow) \
     SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, run.part, run.parts, run.attempt + 1, run.scheduled_at, \
     u.due_at, {state.claimed}, 0, 0, run.follow & {follow.inherited} FROM {list} {join} run{index PRIMARY} ON run.id = u.old \
     WHERE NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = run.fire_no AND later.job_id = run.job_id \
     AND later.cause = run.cause AND later.part = run.part AND later.attempt = run.attempt + 1)",
);

/// What was given with the attempt before.
pub(crate) static RETRY_INPUT: Bulk = Bulk::text(
    RETRIES,
    "INSERT INTO run_input (run_id, params, address, is_of_part, parts, part_params, traceparent, priority) SELECT u.id, i.params, i.address, \
     i.is_of_part, i.parts, i.part_params, i.traceparent, i.priority FROM {list} \
     {join} run_input AS i{index PRIMARY} ON i.run_id = u.old",
);

/// Bytes of an executor's message that an alarm contains. The run has the whole message.
const MAX_MESSAGE_BYTES: usize = 1_000;

impl SettleEffects {
    pub(crate) fn follow(&mut self, row: &LockedRun, finding: &RunReport, state: RunState, context: &SettleContext) {
        let was_given_up = matches!(row.state, RunState::Unknown | RunState::Lost);
        let has_ended = row.state.is_pending() && !state.is_pending();
        self.follow_ups.extend(follow_up::after(row, has_ended, state));
        if has_ended {
            self.free_slots(row);
        }
        if row.follow & follow::COUNTED != 0 && state == RunState::Succeeded && !row.is_of_former_app() {
            self.recovered.insert(row.job_id);
        }
        if was_given_up && !state.is_open() {
            self.known.push(finding.run_id);
        }
        if row.is_of_former_app() {
            return;
        }
        match state {
            RunState::Succeeded if was_given_up => {
                self.late.push((row.fire_no, row.job_id, row.cause.code(), row.part, row.attempt))
            }
            RunState::Failed | RunState::Unknown | RunState::Lost if !was_given_up => {
                if self.may_retry(row) {
                    self.retry(row, finding, context);
                } else if row.cause != Cause::Item {
                    // The failure of items is that of the run that they are of.
                    self.raise(row, finding, state);
                    if self.jobs.get(&row.job_id).is_some_and(|job| job.pause_after_failures > 0) {
                        self.failed.insert((row.job_id, row.fire_no));
                    }
                }
            }
            _ => {}
        }
    }

    fn free_slots(&mut self, row: &LockedRun) {
        if row.has_slots() {
            self.settled.freed.push(row.id);
        }
    }

    /// Its items are delivered from now on: their deliveries take slots, and may need those that it has.
    pub(crate) fn hold(&mut self, row: &LockedRun) {
        self.free_slots(row);
        self.follow_ups.push(FollowUp { run_id: row.id, job_id: row.job_id, kind: Kind::Map });
    }

    /// The job allows a further attempt, and is neither gone nor paused. Each delivery of items has had its own.
    fn may_retry(&self, row: &LockedRun) -> bool {
        if row.is_map() && row.is_held() {
            return false;
        }
        let owner = self.jobs.get(&row.job_id);
        owner.is_some_and(|job| row.attempt <= job.retries && job.allows_pending(row.cause))
    }

    fn retry(&mut self, row: &LockedRun, finding: &RunReport, context: &SettleContext) {
        let Some(id) = self.runs.pop() else { return };
        // The golden ratio spreads even those that are settled by one call.
        let jitter = (context.jitter + id as f64 * 0.618_033_988_749_895).fract();
        let delay = self.jobs.get(&row.job_id).map(|job| &job.retry_delay);
        let delay = delay.map_or(0, |delay| delay.delay_ms(row.attempt, jitter));
        let due_at = (context.now + delay).max(finding.not_before.unwrap_or(Millis::MIN));
        self.retries.push(Retry { id, of: finding.run_id, due_at, shard: row.shard });
    }

    fn raise(&mut self, row: &LockedRun, finding: &RunReport, state: RunState) {
        let Some(id) = self.rows.pop() else { return };
        let said = finding.message.as_deref().filter(|text| !text.trim().is_empty());
        let why = said.or(finding.reason.and_then(|reason| sentence(reason.as_str()))).unwrap_or("");
        let why = cut(why, MAX_MESSAGE_BYTES);
        let alarm_kind = kind_of(state);
        let alarm = Alarm {
            kind: alarm_kind,
            job_id: Some(row.job_id),
            run_id: Some(finding.run_id),
            text: format!("run {} {state}: {why}", finding.run_id),
        };
        self.alarms.push((id, alarm));
        if row.cause == Cause::Node && alarm_kind == AlarmKind::Failed {
            self.failed_nodes.push((finding.run_id, row.fire_no));
        }
    }
}

impl RunStore<'_> {
    /// Writes what [`SettleEffects::follow`] has gathered.
    pub(crate) async fn apply_effects(self, tx: &Transaction, effects: &mut SettleEffects, now: Millis) -> Result<()> {
        self.write_retries(tx, effects).await?;
        self.limits().free(tx, &effects.settled.freed).await?;
        let mut alarms = std::mem::take(&mut effects.alarms);
        let ignored = self.workflows().ignored_failures(tx, &effects.failed_nodes).await?;
        alarms.retain(|(_, alarm)| alarm.run_id.is_none_or(|run_id| !ignored.contains(&run_id)));
        effects.settled.alarms = self.alarms().raise_all(tx, alarms, now).await?;
        if !effects.late.is_empty() {
            self.bulk(tx, &CANCEL_RETRIES, &named![now], &effects.late).await?;
        }
        self.alarms().close_alarms_of(tx, &effects.known, now).await?;
        self.count_failures_in_a_row(tx, &effects.failed).await?;
        self.forget_failures(tx, &effects.recovered).await?;
        let follow_ups = std::mem::take(&mut effects.follow_ups);
        self.insert_follow_ups(tx, &follow_ups, now).await?;
        effects.settled.followed = follow_ups.iter().map(|it| it.run_id).collect();
        Ok(())
    }

    async fn write_retries(self, tx: &Transaction, effects: &mut SettleEffects) -> Result<()> {
        let mut retries = std::mem::take(&mut effects.retries);
        if retries.is_empty() {
            return Ok(());
        }
        retries.sort_unstable_by_key(|retry| retry.id);
        let rows = |retries: &[Retry]| retries.iter().map(|it| (it.id, it.of, it.due_at)).collect::<Vec<_>>();
        let done = self.bulk(tx, &RETRY, &[], &rows(&retries)).await?;
        if done < retries.len() as u64 {
            // The others are there already, from a result that the database has lost.
            let ids: Vec<i64> = retries.iter().map(|retry| retry.id).collect();
            let text = "SELECT id FROM run WHERE id IN ({ids})";
            let written: Vec<i64> = self.tuples(tx, text, values![self.ids(&ids)]).await?;
            retries.retain(|retry| written.contains(&retry.id));
        }
        if !retries.is_empty() {
            self.bulk(tx, &RETRY_INPUT, &[], &rows(&retries)).await?;
        }
        let shards = retries.iter().map(|retry| retry.shard);
        effects.settled.to_scan.extend(shards);
        Ok(())
    }
}

fn kind_of(state: RunState) -> AlarmKind {
    match state {
        RunState::Unknown => AlarmKind::Unknown,
        RunState::Lost => AlarmKind::Lost,
        _ => AlarmKind::Failed,
    }
}
