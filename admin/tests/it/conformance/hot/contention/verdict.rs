//! What the tables say afterwards, compared with what the schedules say.

use std::collections::HashMap;

use carillon_scheduler::{Millis, RunState};
use carillon_store::Job;

use super::Arena;
use crate::conformance::fixture::NOW;

#[derive(Debug, Default)]
pub struct Verdict {
    pub recorded: usize,
    pub in_ranges: usize,
    pub optional: usize,
}

pub async fn of(arena: &Arena) -> Verdict {
    let mut verdict = Verdict::default();
    for job in &arena.jobs {
        judge(arena, job, &mut verdict).await;
    }
    marks(arena).await;
    verdict
}

/// Each instant below the cursor has one record, unless the job was disabled then; at and above it there is none.
async fn judge(arena: &Arena, job: &Job, verdict: &mut Verdict) {
    let now = arena.fixture.store.jobs().get(job.id).await.unwrap().unwrap();
    let cursor = now.next_fire_at.expect("enabled, and fires for ever");
    let mut records: HashMap<Millis, usize> = HashMap::new();
    let first = format!("job_id = {} AND cause = 0 AND attempt = 1", job.id);
    for run in arena.fixture.rows_where(&first).await {
        *records.entry(run.fire_no).or_default() += 1;
        verdict.recorded += 1;
    }
    let schedule = job.schedule().unwrap();
    for (from, to, count) in ranges(arena, job).await {
        let instants = between(&schedule, from, to);
        if instants.len() as i32 != count {
            arena.complain(format!("job {}: {count} in [{from}, {to}]", job.id));
        }
        verdict.in_ranges += instants.len();
        for instant in instants {
            *records.entry(instant).or_default() += 1;
        }
    }
    let disabled = arena.disabled.lock().unwrap();
    let windows = disabled.get(&job.id).map_or(&[][..], |windows| windows);
    for instant in between(&schedule, NOW, cursor - 1) {
        let optional = windows.iter().any(|(since, until)| *since < instant && instant <= *until);
        match records.remove(&instant).unwrap_or(0) {
            1 => {}
            0 if optional => verdict.optional += 1,
            count => arena.complain(format!(
                "job {}: {count} records of {instant}, {} ms after the start; cursor {} ms; disabled {windows:?}",
                job.id,
                instant - NOW,
                cursor - NOW
            )),
        }
    }
    if !records.is_empty() {
        arena.complain(format!("job {}: {records:?} from {cursor} on", job.id));
    }
}

async fn ranges(arena: &Arena, job: &Job) -> Vec<(Millis, Millis, i32)> {
    let text = format!("SELECT from_at, to_at, count FROM misfire WHERE job_id = {}", job.id);
    let rows = arena.fixture.rows(&text).await;
    let at = |row: &sea_orm::QueryResult, index| row.try_get_by_index::<i64>(index).unwrap();
    rows.iter().map(|row| (at(row, 0), at(row, 1), row.try_get_by_index(2).unwrap())).collect()
}

fn between(schedule: &carillon_scheduler::Schedule, from: Millis, to: Millis) -> Vec<Millis> {
    let mut instants = vec![];
    let mut at = from - 1;
    while let Some(next) = schedule.next_after(at).filter(|next| *next <= to) {
        instants.push(next);
        at = next;
    }
    instants
}

/// What was won is still there, as its winner left it: no edit has taken it away, before or since.
async fn marks(arena: &Arena) {
    let rows = arena.fixture.rows_where("mark_token IS NOT NULL").await;
    let by_id: HashMap<i64, _> = rows.iter().map(|row| (row.id, row)).collect();
    let won = arena.won.lock().unwrap();
    for (id, token) in won.iter() {
        match by_id.get(id) {
            None => arena.complain(format!("run {id} was marked and is gone")),
            Some(row) if row.mark_token != Some(*token) || row.sends != 1 => {
                arena.complain(format!("marked twice: {row:?}"));
            }
            Some(row) if row.state() == RunState::Cancelled => {
                arena.complain(format!("marked and cancelled: {row:?}"));
            }
            Some(_) => {}
        }
    }
}
