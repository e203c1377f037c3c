//! Who works on the tables at the same time.

use carillon_scheduler::{JobDraft, Millis, PlanInput, plan};
use carillon_store::db::ids;
use carillon_store::run::claim::{DueJob, JobClaim, SkippedRange};
use carillon_store::run::mark::MarkRequest;
use carillon_store::run::settle::finding::SettleContext;
use carillon_store::run::unmark::Unsent;
use carillon_store::{Definition, Job};

use super::{Arena, count};
use crate::conformance::fixture::actor;
use crate::conformance::hot::outcome::settle::{failure, success};
use crate::conformance::hot::rows::holder;

const LOOK_AHEAD: i64 = 5_000;

/// A holder's scan, of all shards in turn, as if each of four nodes held them all.
pub async fn claimer(arena: &Arena) {
    while arena.goes_on() {
        for (shard, epoch) in (0..).zip(&arena.epochs) {
            scan(arena, shard, *epoch).await;
        }
    }
}

async fn scan(arena: &Arena, shard: i32, epoch: i64) {
    let store = &arena.fixture.store;
    let (now, holder) = (arena.now(), holder(shard, epoch));
    let until = now + LOOK_AHEAD;
    arena.repeated("adopt", || store.runs().adopt(&holder, None, until, 1_000)).await;
    let mut claims = vec![];
    for due in store.runs().due_jobs(shard, until, 50).await.unwrap() {
        claims.extend(planned(arena, due, now).await);
    }
    if claims.is_empty() {
        return tokio::task::yield_now().await;
    }
    let claimed = arena.repeated("claim", || store.runs().claim(&holder, &claims, now));
    if let Some(changed) = claimed.await {
        count(&arena.tally.claims, 1);
        count(&arena.tally.changed, changed.len());
    }
}

/// The edits leave the schedule as it is, so it may be known from the start.
async fn planned(arena: &Arena, due: DueJob, now: Millis) -> Option<JobClaim> {
    let job = arena.jobs.iter().find(|job| job.id == due.job_id)?;
    let schedule = job.schedule().unwrap();
    let timing = timing(job, &schedule);
    let plan = plan(&timing, due.next_fire_at, now, now + LOOK_AHEAD, 20);
    let ids = arena.fixture.store.take_ids(&ids::RUN, plan.fires.len()).await.unwrap();
    let range = |range: &carillon_scheduler::Skipped| SkippedRange {
        from_at: range.from_at,
        to_at: range.to_at,
        count: i64::from(range.count),
        policy: job.draft.misfire.as_str(),
        reason: range.reason.as_str(),
    };
    Some(JobClaim {
        counted: false,
        due,
        fires: ids.into_iter().zip(plan.fires).collect(),
        skipped: plan.skipped.iter().map(range).collect(),
        next_fire_at: plan.next_fire_at,
    })
}

pub fn timing<'a>(job: &Job, schedule: &'a carillon_scheduler::Schedule) -> PlanInput<'a> {
    PlanInput {
        schedule,
        catch_up: job.draft.catch_up,
        misfire: job.draft.misfire,
        misfire_threshold_ms: job.draft.misfire_threshold_seconds * 1000,
        ..PlanInput::new(schedule)
    }
}

/// The due-loop and what comes back: some are given back, of the others every third fails.
pub async fn marker(arena: &Arena, number: usize) {
    while arena.goes_on() {
        for (shard, epoch) in (0..).zip(&arena.epochs) {
            mark(arena, shard, *epoch, number).await;
        }
        tokio::task::yield_now().await;
    }
}

async fn mark(arena: &Arena, shard: i32, epoch: i64, number: usize) {
    let store = &arena.fixture.store;
    let now = arena.now();
    let due = store.runs().waiting(shard, epoch, now + 200, 100).await.unwrap();
    // Both take what both see, one of them in the other order.
    let mut marks: Vec<_> = due
        .iter()
        .map(|run| MarkRequest {
            run_id: run.run_id,
            epoch,
            address: "http://x:1/",
            boot_id: None,
            journal_id: None,
            candidates_id: 1,
            route_code: 0,
            revision: 1,
            app_id: arena.fixture.app.id,
        })
        .collect();
    if number == 1 {
        marks.reverse();
    }
    let token: i64 = rand::random();
    let won = arena.repeated("mark", || store.runs().mark(&marks, token, "a", now));
    let mut won: Vec<i64> = won.await.unwrap_or_default().into_iter().collect();
    won.sort_unstable();
    count(&arena.tally.marks, won.len());
    let back: Vec<_> =
        won.extract_if(.., |id| *id % 7 == 0).map(|run_id| Unsent { run_id, token, bound: false }).collect();
    // What an edit holds just now is given back once more.
    loop {
        let unmarked = arena.repeated("unmark", || store.runs().unmark(&back, now)).await;
        if unmarked.is_none_or(|unmarked| unmarked.held_up.is_empty()) {
            break;
        }
    }
    arena.won.lock().unwrap().extend(won.iter().map(|id| (*id, token)));
    let findings: Vec<_> = won
        .iter()
        .map(|id| match id % 3 {
            0 => failure(*id),
            _ => success(*id),
        })
        .collect();
    let follow_up = SettleContext { now, jitter: rand::random(), restored: false };
    let settled = arena.repeated("settle", || store.runs().settle(&findings, &follow_up));
    if let Some(settled) = settled.await {
        count(&arena.tally.settled, settled.changed.len());
        if settled.changed.len() != findings.len() {
            arena.complain(format!("{findings:?} settled as {settled:?}"));
        }
    }
}

/// Edits the first half of the jobs, one after another, as fast as it can.
pub async fn renamer(arena: &Arena) {
    let half = arena.jobs.len() / 2;
    for number in 0.. {
        if !arena.goes_on() {
            return;
        }
        let job = &arena.jobs[number % half];
        let draft = JobDraft { name: format!("{number}"), ..job.draft.clone() };
        let now = arena.now();
        let definition = Definition::check(&arena.fixture.app, &draft, now).unwrap();
        let (store, actor) = (&arena.fixture.store, actor());
        let edited = store.jobs().update(job.id, &definition, None, now, &actor);
        match edited.await {
            Ok(_) => count(&arena.tally.edits, 1),
            Err(error) => arena.complain(format!("edit: {error}")),
        }
    }
}

/// Disables and enables the other half in turn.
pub async fn toggler(arena: &Arena) {
    let half = arena.jobs.len() / 2;
    let jobs = arena.jobs[half..].chunks(2).cycle();
    for pair in jobs.take_while(|_| arena.goes_on()) {
        let mut since = vec![];
        for job in pair {
            since.push(arena.now());
            set_enabled(arena, job, false, since[since.len() - 1]).await;
            nothing_waits(arena, job).await;
        }
        for (job, since) in pair.iter().zip(since) {
            // Others had time to slip something in.
            nothing_waits(arena, job).await;
            let now = arena.now();
            set_enabled(arena, job, true, now).await;
            let mut disabled = arena.disabled.lock().unwrap();
            disabled.entry(job.id).or_default().push((since, now));
        }
    }
}

async fn set_enabled(arena: &Arena, job: &Job, enabled: bool, now: Millis) {
    let store = &arena.fixture.store;
    match store.jobs().set_enabled(job.id, enabled, now, &actor()).await {
        Ok(_) => count(&arena.tally.edits, 1),
        Err(error) => arena.complain(format!("enable: {error}")),
    }
}

/// From the answer of a disable on, no run of the schedule can be marked any more.
async fn nothing_waits(arena: &Arena, job: &Job) {
    let condition = format!("job_id = {} AND cause = 0 AND state = 0", job.id);
    let waiting = arena.fixture.count("run", &condition).await;
    if waiting > 0 {
        arena.complain(format!("{waiting} runs of the disabled job {} wait", job.id));
    }
}
