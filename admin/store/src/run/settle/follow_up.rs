//! What follows from settled runs: further attempts, alarms, and the end of attempts that are no longer needed. Gathered run
//! by run, and written by one statement of each kind.

use std::collections::HashSet;

use carillon_scheduler::{AlarmKind, Millis, RunState};
use sea_orm::{DbBackend, Value};

use crate::alarm::alarms::Alarm;
use crate::db::dialect;
use crate::db::dialect::Text;
use crate::run::lock::Row;
use crate::run::settle::children::Fire;
use crate::run::settle::outcomes::{Finding, FollowUp, Then};
use crate::{Result, Store, Transaction};

/// Attempts that a late result has made needless.
pub const CANCEL_RETRIES: Text = Text {
    sqlite: "UPDATE run SET state = 12, reason = 'late_result', finished_at = ? FROM json_each(?) AS u \
             WHERE run.fire_no = u.value->>0 AND run.job_id = u.value->>1 AND run.cause = u.value->>2 AND run.part = u.value->>3 \
             AND run.attempt > u.value->>4 AND +run.state = 0",
    postgres: "UPDATE run SET state = 12, reason = 'late_result', finished_at = ? \
               FROM unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[]) AS u(f, j, c, p, a) \
               WHERE run.fire_no = u.f AND run.job_id = u.j AND run.cause = u.c AND run.part = u.p AND run.attempt > u.a AND run.state + 0 = 0",
    mysql: "UPDATE JSON_TABLE(?, '$[*]' COLUMNS (f BIGINT PATH '$[0]', j BIGINT PATH '$[1]', c SMALLINT PATH '$[2]', p INT PATH '$[3]', \
            a INT PATH '$[4]')) AS u STRAIGHT_JOIN run FORCE INDEX (run_fire) ON run.fire_no = u.f AND run.job_id = u.j AND run.cause = u.c \
            AND run.part = u.p AND run.attempt > u.a SET run.state = 12, run.reason = 'late_result', run.finished_at = ? WHERE run.state = 0",
};

/// The next attempts, each a run of its own. A broadcast's part goes to the executor of its number in the list of that time,
/// so the address is not copied.
pub const RETRY: Text = Text {
    sqlite: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, chained, parent) \
             SELECT u.value->>0, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, run.part, run.parts, run.attempt + 1, run.scheduled_at, \
             u.value->>2, 0, 0, 0, run.chained, run.parent FROM json_each(?) AS u CROSS JOIN run ON run.id = u.value->>1 \
             WHERE NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = run.fire_no AND later.job_id = run.job_id \
             AND later.cause = run.cause AND later.part = run.part AND later.attempt = run.attempt + 1)",
    postgres: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, chained, parent) \
               SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, run.part, run.parts, run.attempt + 1, run.scheduled_at, \
               u.due, 0, 0, 0, run.chained, run.parent FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, old, due) JOIN run ON run.id = u.old \
               WHERE NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = run.fire_no AND later.job_id = run.job_id \
               AND later.cause = run.cause AND later.part = run.part AND later.attempt = run.attempt + 1)",
    mysql: "INSERT INTO run (id, job_id, app_id, shard, cause, fire_no, part, parts, attempt, scheduled_at, due_at, state, epoch, sends, chained, parent) \
            SELECT u.id, run.job_id, run.app_id, run.shard, run.cause, run.fire_no, run.part, run.parts, run.attempt + 1, run.scheduled_at, \
            u.due, 0, 0, 0, run.chained, run.parent FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT PATH '$[0]', old BIGINT PATH '$[1]', \
            due BIGINT PATH '$[2]')) AS u STRAIGHT_JOIN run FORCE INDEX (PRIMARY) ON run.id = u.old \
            WHERE NOT EXISTS (SELECT 1 FROM run AS later WHERE later.fire_no = run.fire_no AND later.job_id = run.job_id \
            AND later.cause = run.cause AND later.part = run.part AND later.attempt = run.attempt + 1)",
};

const RETRY_INPUT: Text = Text {
    sqlite: "INSERT INTO run_input (run_id, params, address) SELECT u.value->>0, i.params, i.address FROM json_each(?) AS u \
             CROSS JOIN run_input AS i ON i.run_id = u.value->>1",
    postgres: "INSERT INTO run_input (run_id, params, address) SELECT u.id, i.params, i.address \
               FROM unnest(?::bigint[], ?::bigint[], ?::bigint[]) AS u(id, old, due) JOIN run_input AS i ON i.run_id = u.old",
    mysql: "INSERT INTO run_input (run_id, params, address) SELECT u.id, i.params, i.address FROM JSON_TABLE(?, '$[*]' COLUMNS \
            (id BIGINT PATH '$[0]', old BIGINT PATH '$[1]')) AS u STRAIGHT_JOIN run_input AS i FORCE INDEX (PRIMARY) ON i.run_id = u.old",
};

/// The next attempt of a run.
pub struct Retry {
    id: i64,
    of: i64,
    due_at: Millis,
    shard: i32,
}

/// Fire, job, cause, part and attempt of a run that has succeeded after all.
pub struct Late([i64; 5]);

/// Of what an executor has said, in an alarm. All of it is with the run.
const SAID: usize = 1_000;

impl Then {
    pub(crate) fn follow(&mut self, row: &Row, finding: &Finding, state: RunState, follow_up: &FollowUp) {
        let was_given_up = matches!(row.state, RunState::Unknown | RunState::Lost);
        if row.chained && row.state.is_pending() && !state.is_pending() {
            self.ended.insert((row.job_id, row.fire_no));
        }
        if row.parent && state == RunState::Succeeded {
            self.done.insert(Fire::of(row));
        }
        if was_given_up && !state.is_open() {
            self.known.push(finding.run_id);
        }
        match state {
            RunState::Succeeded if was_given_up => self.late.push(Late::of(row)),
            RunState::Failed | RunState::Unknown | RunState::Lost if !was_given_up => {
                if self.may_retry(row) {
                    self.retry(row, finding, follow_up);
                } else {
                    self.raise(row, finding, state);
                }
            }
            _ => {}
        }
    }

    /// The job allows a further attempt, and is neither gone nor paused.
    fn may_retry(&self, row: &Row) -> bool {
        let owner = self.jobs.get(&row.job_id);
        owner.is_some_and(|job| row.attempt <= job.retries && job.lets_wait(row.cause))
    }

    fn retry(&mut self, row: &Row, finding: &Finding, follow_up: &FollowUp) {
        let Some(id) = self.runs.pop() else { return };
        // The golden ratio spreads even those that are settled by one call.
        let jitter = (follow_up.jitter + id as f64 * 0.618_033_988_749_895).fract();
        let delay = self.jobs.get(&row.job_id).map(|job| &job.retry_delay);
        let delay = delay.map_or(0, |delay| delay.delay_ms(row.attempt, jitter));
        self.retries.push(Retry { id, of: finding.run_id, due_at: follow_up.now + delay, shard: row.shard });
    }

    fn raise(&mut self, row: &Row, finding: &Finding, state: RunState) {
        let Some(id) = self.rows.pop() else { return };
        let why = finding.message.as_deref().or(finding.reason).unwrap_or("");
        let why = cut(why, SAID);
        let alarm = Alarm {
            kind: kind_of(state),
            job_id: Some(row.job_id),
            run_id: Some(finding.run_id),
            text: format!("run {} {state}: {why}", finding.run_id),
        };
        self.alarms.push((id, alarm));
    }
}

impl Late {
    fn of(row: &Row) -> Self {
        let cause = i64::from(row.cause.code());
        Self([row.fire_no, row.job_id, cause, row.part.into(), row.attempt.into()])
    }
}

impl Store {
    /// Writes what [`Then::follow`] has gathered.
    pub(crate) async fn write_what_follows(&self, tx: &Transaction, then: &mut Then, now: Millis) -> Result<()> {
        self.write_retries(tx, then).await?;
        let alarms = std::mem::take(&mut then.alarms);
        then.settled.alarms = self.raise_all(tx, alarms, now).await?;
        self.cancel_retries(tx, &then.late, now).await?;
        self.close_alarms_of(tx, &then.known, now).await?;
        for (job_id, fire_no) in std::mem::take(&mut then.ended) {
            let shard = self.chain_on(tx, job_id, fire_no, now).await?;
            then.settled.to_scan.extend(shard);
        }
        for fire in std::mem::take(&mut then.done) {
            self.bear_children(tx, fire, now, then).await?;
        }
        Ok(())
    }

    async fn write_retries(&self, tx: &Transaction, then: &mut Then) -> Result<()> {
        let mut retries = std::mem::take(&mut then.retries);
        if retries.is_empty() {
            return Ok(());
        }
        retries.sort_unstable_by_key(|retry| retry.id);
        let values = retry_values(self.backend, &retries);
        let done = self.execute(tx, RETRY.of(self.backend), values).await?;
        if done.rows_affected() < retries.len() as u64 {
            // The others are there already, from a result that the database has lost.
            let ids: Vec<i64> = retries.iter().map(|retry| retry.id).collect();
            let (list, value) = dialect::id_list(self.backend, &ids);
            let text = format!("SELECT id FROM run WHERE id IN ({list})");
            let written = self.ids_of(tx, &text, vec![value]).await?;
            let written: HashSet<i64> = written.into_iter().collect();
            retries.retain(|retry| written.contains(&retry.id));
        }
        if !retries.is_empty() {
            let values = retry_values(self.backend, &retries);
            self.execute(tx, RETRY_INPUT.of(self.backend), values).await?;
        }
        let shards = retries.iter().map(|retry| retry.shard);
        then.settled.to_scan.extend(shards);
        Ok(())
    }

    async fn cancel_retries(&self, tx: &Transaction, late: &[Late], now: Millis) -> Result<()> {
        if late.is_empty() {
            return Ok(());
        }
        let rows: Vec<[i64; 5]> = late.iter().map(|late| late.0).collect();
        let mut values = columns(self.backend, &rows);
        match self.backend {
            DbBackend::MySql => values.push(now.into()),
            _ => values.insert(0, now.into()),
        }
        self.execute(tx, CANCEL_RETRIES.of(self.backend), values).await?;
        Ok(())
    }
}

fn retry_values(backend: DbBackend, retries: &[Retry]) -> Vec<Value> {
    let row = |retry: &Retry| [retry.id, retry.of, retry.due_at];
    let rows: Vec<[i64; 3]> = retries.iter().map(row).collect();
    columns(backend, &rows)
}

/// Rows of numbers: an array for each column on PostgreSQL, one list elsewhere.
fn columns<const N: usize>(backend: DbBackend, rows: &[[i64; N]]) -> Vec<Value>
where
    [i64; N]: serde::Serialize,
{
    if backend == DbBackend::Postgres {
        let column = |n: usize| rows.iter().map(|row| row[n]).collect::<Vec<i64>>().into();
        return (0..N).map(column).collect();
    }
    vec![serde_json::to_string(rows).unwrap_or_default().into()]
}

/// The beginning of a text, which says so where it is cut.
pub fn cut(text: &str, bytes: usize) -> String {
    let end = text.floor_char_boundary(bytes);
    match end < text.len() {
        true => format!("{}…", &text[..end]),
        false => text.to_owned(),
    }
}

fn kind_of(state: RunState) -> AlarmKind {
    match state {
        RunState::Unknown => AlarmKind::Unknown,
        RunState::Lost => AlarmKind::Lost,
        _ => AlarmKind::Failed,
    }
}
