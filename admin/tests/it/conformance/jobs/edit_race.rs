//! Edits and claims at the same time: every instant is recorded once, whichever is quicker.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carillon_scheduler::{Clock as _, JobDraft, ManualClock, Millis, PlanInput, plan};
use carillon_store::db::ids;
use carillon_store::run::claim::{DueJob, HeldLease, JobClaim};
use carillon_store::{Definition, Job};

use crate::conformance::fixture::{Fixture, NOW, SECOND, SHARDS, actor, after, each};

const LOOK_AHEAD_MS: i64 = 5_000;
const ROUNDS: usize = 60;

/// What a holder's scan does with one job; None where the job has changed since the scan saw it.
async fn planned(fixture: &Fixture, due: DueJob, now: Millis) -> Option<JobClaim> {
    let job = fixture.store.jobs().get(due.job_id).await.unwrap()?;
    if job.revision != due.revision {
        return None;
    }
    let schedule = job.schedule().unwrap();
    let timing = PlanInput {
        schedule: &schedule,
        catch_up: job.draft.catch_up,
        misfire: job.draft.misfire,
        misfire_threshold_ms: 60_000,
        ..PlanInput::new(&schedule)
    };
    let plan = plan(&timing, due.next_fire_at, now, now + LOOK_AHEAD_MS, 100);
    let ids = fixture.store.take_ids(&ids::RUN, plan.fires.len()).await.unwrap();
    let fires = ids.into_iter().zip(plan.fires).collect();
    Some(JobClaim { counted: false, due, fires, skipped: vec![], next_fire_at: plan.next_fire_at })
}

async fn scan(fixture: &Fixture, holder: &HeldLease<'_>, now: Millis) {
    let due = fixture.store.runs().due_jobs(holder.shard, now + LOOK_AHEAD_MS, 100).await.unwrap();
    let mut claims = vec![];
    for due in due {
        claims.extend(planned(fixture, due, now).await);
    }
    if claims.is_empty() {
        return;
    }
    match fixture.store.runs().claim(holder, &claims, now).await {
        Ok(_) => {}
        // The engine repeats the batch at its next scan.
        Err(error) => assert!(error.is_lock_conflict(), "{error}"),
    }
}

/// What is due within 200 ms is on its way: no edit may take it back.
async fn mark(fixture: &Fixture, job: &Job, now: Millis) {
    let text = "UPDATE run SET state = 1, sends = sends + 1 WHERE state = 0";
    fixture.sql(&format!("{text} AND job_id = {} AND due_at <= {}", job.id, now + 200)).await;
}

databases! {
    // covers: H27
    async fn edits_and_claims_at_once_leave_no_gap_and_no_repeat(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let job = fixture.create(&each("* * * * * ?")).await;
        let epoch = fixture.store.leases().take(job.shard, "node", NOW, 3_600_000).await.unwrap().unwrap();
        let holder = HeldLease { shard: job.shard, epoch, node: "node", ttl_ms: 3_600_000 };
        let (clock, over) = (ManualClock::new(NOW), AtomicBool::new(false));
        let engine = async {
            for _ in 0..ROUNDS {
                scan(&fixture, &holder, clock.now()).await;
                mark(&fixture, &job, clock.now()).await;
                clock.advance(Duration::from_millis(170));
            }
            over.store(true, Ordering::Relaxed);
        };
        let editor = async {
            let mut edits = 0;
            while !over.load(Ordering::Relaxed) {
                let draft = JobDraft { name: format!("edit {edits}"), ..each("* * * * * ?") };
                let now = clock.now();
                let definition = Definition::check(&fixture.app, &draft, now).unwrap();
                fixture.store.jobs().update(job.id, &definition, None, now, &actor()).await.unwrap();
                edits += 1;
                tokio::task::yield_now().await;
            }
            edits
        };
        let ((), edits) = futures_util::join!(engine, editor);
        assert!(edits > 10, "{edits} edits");
        scan(&fixture, &holder, clock.now()).await;
        let job = fixture.store.jobs().get(job.id).await.unwrap().unwrap();
        let recorded: Vec<i64> = fixture.runs(&job).await.iter().map(|run| (run.fire_no - SECOND) / 1000).collect();
        let cursor = (job.next_fire_at.unwrap() - SECOND) / 1000;
        assert_eq!(recorded, (1..cursor).collect::<Vec<_>>(), "{edits} edits");
        assert!(job.next_fire_at.unwrap() > after(10) && i64::from(job.shard) < i64::from(SHARDS));
    }
}
