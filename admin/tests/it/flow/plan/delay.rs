//! Fixed delays, whose next instant hangs on the end of the last run, and schedules whose fires are counted.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, JobDraft, RunState, ScheduleDraft};
use carillon_store::Actor;
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, Reply};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START, with_registered_executor};

use RunState::{Cancelled, Claimed, Failed, Running, Succeeded, Unknown};

fn flow(change: impl Fn(&mut JobDraft), test: impl AsyncFnOnce(&Node, &RecordingExecutor, &Job)) {
    with_registered_executor(async |node, executor| {
        let job = node.job(|draft| change(draft)).await;
        test(node, executor, &job).await;
    });
}

fn delayed(seconds: i64) -> impl Fn(&mut JobDraft) {
    move |draft| draft.schedule = ScheduleDraft::fixed_delay(seconds)
}

async fn next(node: &Node, job: &Job) -> Option<i64> {
    let next = node.store.jobs().get(job.id).await.unwrap().unwrap().next_fire_at;
    next.map(|at| at - START)
}

async fn ends(node: &Node, job: &Job, code: i32) {
    let last = node.runs(job).await.pop().unwrap();
    node.callback(&[(last.id, code, "")]).await;
}

// covers: 001-13, 002-4
#[test]
fn the_gap_between_end_and_start_is_the_delay() {
    flow(delayed(5), async |node, executor, job| {
        assert_eq!(next(node, job).await, Some(5_000), "one delay after it was made");
        for turn in 1..=3 {
            node.advance(5_000).await;
            assert_eq!(executor.runs().len(), turn);
            assert_eq!(next(node, job).await, None, "nothing is planned while it runs");
            node.advance(60_000).await;
            assert_eq!(node.states(job).await.last(), Some(&Running));
            ends(node, job, 200).await;
            let gap = next(node, job).await.unwrap() - (node.clock.now() - START);
            assert_eq!(gap, 5_000);
        }
        assert_eq!(node.states(job).await, [Succeeded; 3]);
    });
}

#[test]
fn the_delay_is_counted_from_any_end() {
    flow(delayed(5), async |node, executor, job| {
        node.advance(5_000).await;
        ends(node, job, 500).await;
        assert_eq!(next(node, job).await, Some(10_000), "a failure");
        executor.reply(Reply::Body(r#"{"code":500,"msg":"no"}"#.into()));
        node.advance(5_000).await;
        assert_eq!(next(node, job).await, Some(15_000), "a refusal");
        executor.reply(Reply::Status(502));
        node.advance(5_000).await;
        assert_eq!(next(node, job).await, None);
        node.advance(15_000).await;
        node.services.resolver.step().await;
        node.drain().await;
        assert_eq!(next(node, job).await, Some(35_000), "an unknown outcome");
        assert_eq!(node.states(job).await, [Failed, Failed, Unknown]);
        let unknown = node.runs(job).await.pop().unwrap().id;
        node.callback(&[(unknown, 200, "")]).await;
        assert_eq!(next(node, job).await, Some(35_000), "its late result begins no second chain");
    });
}

#[test]
fn a_retry_is_still_the_same_link() {
    let change = |draft: &mut JobDraft| {
        delayed(5)(draft);
        draft.retries = 1;
    };
    flow(change, async |node, executor, job| {
        node.advance(5_000).await;
        ends(node, job, 500).await;
        assert_eq!(next(node, job).await, None, "a further attempt follows");
        node.advance(7_000).await;
        assert_eq!(executor.runs().len(), 2);
        ends(node, job, 500).await;
        assert_eq!(next(node, job).await, Some(17_000));
    });
}

#[test]
fn a_link_that_is_cancelled_by_hand_is_an_end() {
    flow(delayed(5), async |node, _, job| {
        node.clock.advance(std::time::Duration::from_secs(3));
        node.renew_leases().await;
        node.scan().await;
        let run = node.runs(job).await.pop().unwrap();
        assert_eq!(run.state, Claimed);
        node.engine.runs().kill(run.id, &Actor::engine()).await.unwrap();
        assert_eq!(node.states(job).await, [Cancelled]);
        assert_eq!(next(node, job).await, Some(8_000));
    });
}

async fn enable(node: &Node, job: &Job, enabled: bool) -> Option<i64> {
    let (now, by) = (node.clock.now(), actor());
    let change = node.store.jobs().set_enabled(job.id, enabled, now, &by);
    change.await.unwrap().next_fire_at.map(|at| at - START)
}

#[test]
fn edits_and_pauses_keep_one_chain() {
    flow(delayed(5), async |node, _, job| {
        node.advance(5_000).await;
        let mut draft = job.draft.clone();
        draft.schedule = ScheduleDraft::fixed_delay(7);
        node.edit(job, draft).await;
        assert_eq!(next(node, job).await, None, "it still runs");
        assert_eq!(enable(node, job, false).await, None);
        assert_eq!(enable(node, job, true).await, None);
        ends(node, job, 200).await;
        assert_eq!(next(node, job).await, Some(12_000), "by the new delay");
        enable(node, job, false).await;
        node.clock.advance(std::time::Duration::from_secs(60));
        assert_eq!(enable(node, job, true).await, Some(72_000));
    });
}

#[test]
fn a_broken_chain_is_found_and_mended() {
    flow(delayed(5), async |node, _, job| {
        node.advance(5_000).await;
        node.services.resolver.step().await;
        assert_eq!(next(node, job).await, None, "its link is on its way: nothing is broken");
        node.sql(&format!("UPDATE run SET state = 9 WHERE job_id = {}", job.id)).await;
        node.services.resolver.step().await;
        assert_eq!(next(node, job).await, Some(10_000));
    });
}

#[test]
fn a_missed_link_that_is_skipped_is_followed_by_the_next() {
    let change = |draft: &mut JobDraft| {
        delayed(5)(draft);
        draft.misfire = carillon_scheduler::MisfirePolicy::Skip;
    };
    flow(change, async |node, executor, job| {
        node.advance(120_000).await;
        assert_eq!((executor.runs().len(), node.misfires(job).await.len()), (0, 1));
        let runs = node.runs(job).await;
        assert_eq!((runs.len(), runs[0].scheduled_at - START), (1, 125_000), "counted from now, and claimed ahead");
    });
}

#[test]
fn so_many_fires_and_no_more() {
    let counted = |draft: &mut JobDraft| {
        draft.schedule = ScheduleDraft { max_fires: Some(3), ..ScheduleDraft::fixed_rate(1) };
    };
    flow(counted, async |node, executor, job| {
        node.advance(2_000).await;
        let left = node.store.jobs().get(job.id).await.unwrap().unwrap().fires_left;
        assert_eq!(left, Some(0), "the third is claimed ahead");
        for _ in 0..10 {
            node.advance(1_000).await;
        }
        assert_eq!((executor.runs().len(), next(node, job).await), (3, None));
        let renamed = JobDraft { name: "renamed".into(), ..job.draft.clone() };
        let same = node.edit(job, renamed).await;
        assert_eq!((same.fires_left, same.next_fire_at), (Some(0), None), "another name begins nothing");
        let mut draft = job.draft.clone();
        draft.schedule.max_fires = Some(2);
        let again = node.edit(job, draft).await;
        assert_eq!(again.fires_left, Some(2), "another schedule has its own count");
        for _ in 0..10 {
            node.advance(1_000).await;
        }
        assert_eq!(executor.runs().len(), 5);
    });
}

#[test]
fn once_is_once() {
    let once = |draft: &mut JobDraft| draft.schedule = ScheduleDraft::once(START + 3_000);
    flow(once, async |node, executor, job| {
        for _ in 0..10 {
            node.advance(1_000).await;
        }
        assert_eq!((executor.runs().len(), next(node, job).await), (1, None));
        let renamed = JobDraft { name: "renamed".into(), ..job.draft.clone() };
        assert_eq!(node.edit(job, renamed).await.next_fire_at, None, "what is over stays editable");
    });
}
