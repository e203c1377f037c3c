//! Routes that ask before they send.

use std::time::Duration;

use carillon_scheduler::{Clock as _, JobDraft, RouteStrategy, RunState};
use carillon_store::{Definition, Job};
use carillon_testkit::{RecordingExecutor, Reply, wait_for};

use crate::conformance::fixture::actor;
use crate::flow::dispatch::routes::{counts, flow};
use crate::flow::node::Node;

fn busy() -> Reply {
    let text = "job thread is running or has trigger queue.";
    Reply::Body(format!(r#"{{"code":500,"msg":"{text}"}}"#))
}

/// Everything but what is under way.
async fn begin(node: &Node) {
    node.renew_leases().await;
    node.scan().await;
    node.dispatch().await;
}

async fn answers(node: &Node, job: &Job) -> Vec<(String, String)> {
    let run = node.runs(job).await.pop().unwrap();
    let run = node.store.runs().get(run.id).await.unwrap().unwrap();
    let choice = node.store.runs().route_decision(&run).await.unwrap().unwrap();
    let told = choice.story.answers.into_iter();
    told.map(|told| (told.address, told.what)).collect()
}

#[test]
fn failover_takes_the_first_that_answers_and_asks_each_once_a_second() {
    flow(RouteStrategy::Failover, async |node, executors, job| {
        executors[0].reply_to_probes(Reply::Body(r#"{"code":500,"msg":"going down"}"#.into()));
        for _ in 0..3 {
            node.fire(job).await;
        }
        node.round().await;
        assert_eq!(counts(executors), [0, 3, 0]);
        let beats = |executor: &RecordingExecutor| executor.received("/beat").len();
        assert_eq!((beats(&executors[0]), beats(&executors[1]), beats(&executors[2])), (1, 1, 0));
        let token = executors[1].received("/beat")[0].header("XXL-JOB-ACCESS-TOKEN").map(str::to_owned);
        assert_eq!(token.as_ref(), Some(&node.config.access_token));
        assert_eq!(
            answers(node, job).await,
            [
                (executors[0].address.clone(), "refused: going down".to_owned()),
                (executors[1].address.clone(), "alive".to_owned())
            ]
        );
        node.advance(1_001).await;
        node.fire(job).await;
        node.round().await;
        assert_eq!(beats(&executors[1]), 2, "what it said a second ago counts no more");
    });
}

#[test]
fn when_nobody_answers_the_run_fails_with_what_each_said() {
    flow(RouteStrategy::Failover, async |node, executors, job| {
        executors[0].reply_to_probes(Reply::Body(r#"{"code":500,"msg":"going down"}"#.into()));
        executors[1].die().await;
        executors[2].die().await;
        node.fire(job).await;
        node.round().await;
        let run = node.runs(job).await.pop().unwrap();
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        let message = run.message();
        let start = format!("no executor answered: {}: refused: going down; ", executors[0].address);
        assert!(message.starts_with(&start), "{message}");
        assert!(message.contains("refused (os error"), "{message}");
        let run = node.store.runs().get(run.id).await.unwrap().unwrap();
        let choice = node.store.runs().route_decision(&run).await.unwrap().unwrap();
        assert_eq!((choice.chosen, choice.why.as_str()), (None, "none could be chosen"));
        assert_eq!((choice.candidates.len(), choice.story.answers.len()), (3, 3));
    });
}

#[test]
fn busy_over_takes_the_first_that_is_idle_and_waits_while_none_is() {
    flow(RouteStrategy::BusyOver, async |node, executors, job| {
        executors[0].reply_to_probes(busy());
        node.fire(job).await;
        node.round().await;
        assert_eq!(counts(executors), [0, 1, 0]);
        assert_eq!(executors[0].received("/idleBeat")[0].json(), serde_json::json!({"jobId": job.id}));
        executors.iter().for_each(|executor| executor.reply_to_probes(busy()));
        node.fire(job).await;
        node.round().await;
        let last = |states: Vec<RunState>| states.last().copied();
        assert_eq!(last(node.states(job).await), Some(RunState::Claimed));
        let asked = executors[2].received("/idleBeat").len();
        node.advance(300).await;
        assert_eq!(executors[2].received("/idleBeat").len(), asked, "not again at each tick");
        executors[2].reply_to_probes(Reply::Accept);
        node.advance(1_000).await;
        assert_eq!(counts(executors), [0, 1, 1]);
        // No executor becomes idle: the run is given up as if there were no room.
        executors[2].reply_to_probes(busy());
        node.fire(job).await;
        for _ in 0..62 {
            node.advance(1_000).await;
        }
        let run = node.runs(job).await.pop().unwrap();
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        let start = format!("every executor was busy with the job: {}: busy: job thread", executors[0].address);
        assert!(run.message().starts_with(&start), "{}", run.message());
    });
}

// covers: I11
#[test]
fn a_beat_that_hangs_delays_nobody() {
    flow(RouteStrategy::Failover, async |node, executors, job| {
        executors[0].reply_to_probes(Reply::Never);
        let other = node.job(|draft| draft.route = RouteStrategy::Last).await;
        for _ in 0..200 {
            node.fire(job).await;
        }
        node.fire(&other).await;
        begin(node).await;
        wait_for("the other job's run has gone", || async { executors[2].runs().len() == 1 }).await;
        assert_eq!(executors[1].runs().len(), 0, "the ones that ask still wait for the answer");
        node.drain().await;
        assert_eq!(counts(executors), [0, 200, 1]);
        assert_eq!(executors[0].received("/beat").len(), 1, "one question for all of them");
        assert_eq!(answers(node, job).await[0].1, "no answer in time");
    });
}

#[test]
fn three_beats_without_an_answer_close_the_address() {
    flow(RouteStrategy::Failover, async |node, executors, job| {
        executors[0].reply_to_probes(Reply::Never);
        for _ in 0..4 {
            node.fire(job).await;
            node.round().await;
            node.clock.advance(Duration::from_millis(1_100));
            assert!(node.clock.now() > 0);
        }
        assert_eq!(counts(executors), [0, 4, 0]);
        assert_eq!(executors[0].received("/beat").len(), 3);
        assert_eq!(answers(node, job).await[0].1, "not asked: it did not answer lately");
    });
}

// covers: 000-13, 002-14
#[test]
fn when_all_executors_hang_the_tick_goes_on() {
    flow(RouteStrategy::RoundRobin, async |node, executors, job| {
        for executor in executors {
            executor.reply(Reply::Never);
        }
        let asking = node.job(|draft| draft.route = RouteStrategy::BusyOver).await;
        for _ in 0..200 {
            node.fire(job).await;
            node.fire(&asking).await;
        }
        begin(node).await;
        let hang = || async { executors.iter().all(|executor| executor.runs().len() == 32) };
        wait_for("all slots are taken", hang).await;
        let mut slow = 0;
        for _ in 0..30 {
            node.clock.advance(Duration::from_secs(1));
            let began = std::time::Instant::now();
            node.dispatch().await;
            slow += u32::from(began.elapsed() > Duration::from_millis(50));
        }
        // The machine may be busy with something else now and then.
        assert!(slow < 10, "{slow} of 30 ticks took more than 50 ms");
    });
}

// covers: G11
#[test]
fn the_slow_executors_of_one_app_leave_places_for_the_probes_of_another() {
    flow(RouteStrategy::Failover, async |node, executors, job| {
        for executor in &executors[1..] {
            executor.reply_to_probes(Reply::Never);
        }
        executors[0].reply_to_probes(Reply::Never);
        for _ in 0..600 {
            node.fire(job).await;
        }
        begin(node).await;
        let other = RecordingExecutor::start().await;
        let app = node.store.apps().create("billing", "Billing", node.clock.now(), &actor()).await.unwrap();
        node.register_of("billing", &other.address, &[]).await;
        let draft = {
            let mut draft = JobDraft::new("billing", "bill", "handle");
            draft.route = RouteStrategy::Failover;
            draft
        };
        let definition = Definition::check(&app, &draft, node.clock.now()).unwrap();
        let bill =
            node.store.jobs().create(vec![definition], node.clock.now(), &actor(), None).await.unwrap().remove(0);
        node.fire(&bill).await;
        begin(node).await;
        wait_for("the probe of the other app", async || !other.received("/beat").is_empty()).await;
    });
}
