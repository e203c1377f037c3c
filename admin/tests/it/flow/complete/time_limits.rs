//! Time-outs that the admin enforces, and kills: what was asked, what was agreed, what has ended.

use carillon_engine::runtime::Service as _;
use carillon_scheduler::{BlockStrategy, RunState};
use carillon_store::run::cancel::KillRequest;
use carillon_testkit::{RecordingExecutor, Reply};

use crate::flow::node::{Node, with_executor};
use crate::flow::recover::lost::{advance_seconds, log, refusal};

/// Starts a run with a limit of 10 s; the executor sends heartbeats for `seconds`.
async fn run_for(node: &Node, executor: &RecordingExecutor, seconds: u64) -> (carillon_store::Job, i64) {
    node.register(executor).await;
    let job = node.job(|draft| draft.timeout_seconds = 10).await;
    let run_id = node.fire(&job).await;
    node.round().await;
    go_on(node, executor, seconds).await;
    (job, run_id)
}

async fn go_on(node: &Node, executor: &RecordingExecutor, seconds: u64) {
    for _ in 0..seconds / 15 {
        node.register(executor).await;
        advance_seconds(node, 15).await;
    }
}

#[test]
fn a_run_that_is_known_there_is_ended_a_minute_after_its_time() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(refusal("job thread is running or has trigger queue."));
        executor.reply_to("/log", log("begun\n", false));
        let (job, run_id) = run_for(node, executor, 60).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        assert!(executor.received("/kill").is_empty());
        go_on(node, executor, 30).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("timeout")));
        let asked = executor.received("/kill");
        assert_eq!(asked[0].header("Carillon-Run-Id"), Some(run_id.to_string().as_str()));
    });
}

#[test]
fn a_run_that_is_not_known_there_is_lost_a_minute_after_its_time() {
    with_executor(async |node, executor| {
        // Idle: no run of this job runs or waits.
        let (job, _) = run_for(node, executor, 90).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Lost, Some("lost")));
        assert!(run.message().contains("not known there"), "{}", run.message());
        assert!(executor.received("/kill").is_empty());
    });
}

/// An executor that is busy with the job and has no log of any run.
fn busy_without_logs(executor: &RecordingExecutor) {
    executor.reply_to_probes(refusal("job thread is running or has trigger queue."));
    executor.reply_to("/log", log("readLog fail, logFile not exists", true));
}

// covers: R095
#[test]
fn r095b_a_run_without_a_log_that_is_the_only_one_there_is_ended_after_its_time() {
    with_executor(async |node, executor| {
        busy_without_logs(executor);
        let (job, run_id) = run_for(node, executor, 90).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("timeout")));
        let asked = executor.received("/kill");
        assert_eq!(asked[0].header("Carillon-Run-Id"), Some(run_id.to_string().as_str()));
    });
}

// covers: G13
#[test]
fn runs_that_a_busy_executor_has_lost_with_its_queue_end_one_after_the_other() {
    with_executor(async |node, executor| {
        busy_without_logs(executor);
        node.register(executor).await;
        let job = node.job(|draft| draft.timeout_seconds = 10).await;
        let ids = [node.fire(&job).await, node.fire(&job).await];
        node.round().await;
        // A later run is what keeps it busy.
        go_on(node, executor, 60).await;
        let later = node.fire(&job).await;
        let states = async || {
            let mut states = vec![];
            for run_id in ids.into_iter().chain([later]) {
                states.push(node.store.runs().get(run_id).await.unwrap().unwrap().state);
            }
            states
        };
        go_on(node, executor, 30).await;
        let running = RunState::Running;
        assert_eq!(states().await, [RunState::Lost, running, running], "the second may wait behind the first");
        go_on(node, executor, 90).await;
        assert_eq!(states().await, [RunState::Lost, RunState::Lost, running]);
        assert!(executor.received("/kill").is_empty(), "the later run is healthy");
    });
}

#[test]
fn the_time_of_a_run_counts_from_the_end_of_the_run_before_it() {
    with_executor(async |node, executor| {
        busy_without_logs(executor);
        node.register(executor).await;
        let job = node.job(|draft| draft.timeout_seconds = 10).await;
        let (first, second) = (node.fire(&job).await, node.fire(&job).await);
        node.round().await;
        go_on(node, executor, 60).await;
        node.callback(&[(first, 200, "at last")]).await;
        executor.reply_to("/log", log("begun\n", false));
        go_on(node, executor, 45).await;
        let state = async || node.store.runs().get(second).await.unwrap().unwrap().state;
        assert_eq!(state().await, RunState::Running, "it has begun 45 s ago");
        go_on(node, executor, 45).await;
        assert_eq!(state().await, RunState::Failed);
    });
}

#[test]
fn a_run_whose_executor_answers_nothing_is_lost_in_the_end() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(Reply::Status(502));
        let (job, _) = run_for(node, executor, 90).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        go_on(node, executor, 75).await;
        assert_eq!(node.states(&job).await, [RunState::Lost]);
    });
}

#[test]
fn a_kill_that_nobody_asked_for_any_more_is_asked_for_by_the_holder() {
    with_executor(async |node, executor| {
        node.register(executor).await;
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        // As if the node had died between noting the wish and asking.
        let now = carillon_scheduler::Clock::now(&*node.clock);
        assert_eq!(node.store.runs().request_kill(run_id, now, None).await.unwrap(), Some(KillRequest::Noted));
        executor.reply(Reply::Status(502));
        advance_seconds(node, 45).await;
        let asked = executor.received("/kill").len();
        assert!(asked >= 3, "again and again: {asked}");
        let run = node.store.runs().get(run_id).await.unwrap().unwrap();
        assert_eq!((run.state, run.kill_asked_at), (RunState::Running, Some(now)), "asked is not agreed");
        executor.reply(Reply::Accept);
        advance_seconds(node, 27).await;
        assert_eq!(node.states(&job).await, [RunState::Running], "agreed is not ended");
        go_on(node, executor, 30).await;
        let run = &node.runs(&job).await[0];
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Killed, Some("unconfirmed")));
        node.services.monitor.step().await;
    });
}

// covers: D3
#[test]
fn a_run_that_its_executor_agreed_to_kill_and_still_works_on_is_not_over() {
    with_executor(async |node, executor| {
        executor.reply_to_probes(refusal("job is running"));
        executor.reply_to("/log", log("begun\n", false));
        node.register(executor).await;
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        node.engine.runs().kill(run_id, &carillon_store::Actor::engine()).await.unwrap();
        go_on(node, executor, 120).await;
        assert_eq!(node.states(&job).await, [RunState::Running]);
        let filter = carillon_store::alarm::alarms::AlarmFilter { limit: 100, ..Default::default() };
        let alarms = node.store.alarms().list(&filter).await.unwrap().items;
        let texts: Vec<&str> = alarms.iter().map(|alarm| alarm.alarm.text.as_str()).collect();
        assert!(texts.len() == 1 && texts[0].ends_with("and still works on it"), "{texts:?}");
        node.callback(&[(run_id, 200, "done")]).await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded], "what it reports in the end counts");
    });
}

// covers: D3
#[test]
fn a_killed_run_is_over_where_the_executor_does_not_say_whether_it_works_on_the_job() {
    with_executor(async |node, executor| {
        executor.reply_to("/log", log("begun\n", false));
        node.register(executor).await;
        for reply in [Reply::Status(404), refusal("XXL-JOB idleBeat callback is not configured")] {
            executor.reply_to_probes(reply);
            let job = node.job(|_| ()).await;
            let run_id = node.fire(&job).await;
            node.round().await;
            node.engine.runs().kill(run_id, &carillon_store::Actor::engine()).await.unwrap();
            go_on(node, executor, 45).await;
            assert_eq!(state(node, run_id).await, RunState::Running, "its result may be under way");
            go_on(node, executor, 60).await;
            assert_eq!(state(node, run_id).await, RunState::Killed);
        }
        let filter = carillon_store::alarm::alarms::AlarmFilter { limit: 100, ..Default::default() };
        assert_eq!(node.store.alarms().list(&filter).await.unwrap().items, [], "nothing is known to go on");
    });
}

/// A run of a job with this strategy whose kill its executor agreed to, and a later run that was sent a minute after it.
async fn agreed_to_kill(node: &Node, executor: &RecordingExecutor, block: BlockStrategy) -> (i64, i64) {
    executor.reply_to_probes(refusal("job is running"));
    executor.reply_to("/log", log("begun\n", false));
    node.register(executor).await;
    let job = node.job(|draft| draft.block = block).await;
    let run_id = node.fire(&job).await;
    node.round().await;
    node.engine.runs().kill(run_id, &carillon_store::Actor::engine()).await.unwrap();
    go_on(node, executor, 15).await;
    let later = node.fire(&job).await;
    node.round().await;
    (run_id, later)
}

async fn state(node: &Node, run_id: i64) -> RunState {
    node.store.runs().get(run_id).await.unwrap().unwrap().state
}

// covers: D3
#[test]
fn a_run_that_goes_on_after_its_kill_is_not_over_while_a_later_one_waits_behind_it() {
    with_executor(async |node, executor| {
        let (run_id, later) = agreed_to_kill(node, executor, BlockStrategy::Serial).await;
        go_on(node, executor, 180).await;
        assert_eq!((state(node, run_id).await, state(node, later).await), (RunState::Running, RunState::Running));
        node.callback(&[(run_id, 200, "done")]).await;
        assert_eq!(state(node, run_id).await, RunState::Succeeded, "what it reports in the end counts");
    });
}

// covers: D3
#[test]
fn a_killed_run_is_over_when_a_later_one_that_waited_behind_it_has_a_result() {
    with_executor(async |node, executor| {
        let (run_id, later) = agreed_to_kill(node, executor, BlockStrategy::Serial).await;
        let job_id = node.store.runs().get(later).await.unwrap().unwrap().job_id;
        let job = node.store.jobs().get(job_id).await.unwrap().unwrap();
        node.advance(1_000).await;
        let last = node.fire(&job).await;
        node.round().await;
        node.callback(&[(later, 500, "no disk")]).await;
        go_on(node, executor, 90).await;
        assert_eq!((state(node, run_id).await, state(node, last).await), (RunState::Killed, RunState::Running));
    });
}

// covers: D3
#[test]
fn a_killed_run_is_over_when_its_executor_has_accepted_a_later_one_that_cannot_be_beside_it() {
    with_executor(async |node, executor| {
        for block in [BlockStrategy::DiscardLater, BlockStrategy::CoverEarly] {
            let (run_id, later) = agreed_to_kill(node, executor, block).await;
            go_on(node, executor, 90).await;
            assert_eq!((state(node, run_id).await, state(node, later).await), (RunState::Killed, RunState::Running));
        }
    });
}
