//! Runs that are due together for one executor travel in one request, if it takes such; each has its own answer.

use carillon_protocol::RunBatch;
use carillon_scheduler::RunState;
use carillon_store::Job;
use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::json;

use crate::flow::node::{Node, on_node, with_executor};

const COUNT: usize = 3;

/// As many jobs with one run each, all due now, for an executor that takes batches; and the runs, after a round.
async fn sent(node: &Node, executor: &RecordingExecutor, reply: impl FnOnce(&[i64]) -> Reply) -> (Vec<Job>, Vec<i64>) {
    node.register_batching(executor).await;
    let jobs = node.create_jobs(COUNT, |_| ()).await;
    let mut runs = vec![];
    for job in &jobs {
        runs.push(node.fire(job).await);
    }
    executor.reply_to("/runs", reply(&runs));
    node.round().await;
    (jobs, runs)
}

async fn states(node: &Node, jobs: &[Job]) -> Vec<RunState> {
    let mut states = vec![];
    for job in jobs {
        states.extend(node.states(job).await);
    }
    states
}

#[test]
fn runs_that_are_due_together_travel_together() {
    with_executor(async |node, executor| {
        let (jobs, runs) = sent(node, executor, |_| Reply::Accept).await;
        assert_eq!((executor.received("/runs").len(), executor.runs().len()), (1, 0));
        let request = &executor.received("/runs")[0];
        assert!(request.header("XXL-JOB-ACCESS-TOKEN").is_some());
        assert_eq!(request.header("XXL-JOB-APPNAME"), Some("orders"));
        let batch: RunBatch = serde_json::from_str(&request.body).unwrap();
        let mut received: Vec<i64> = batch.runs.iter().map(|run| run.run.log_id).collect();
        received.sort_unstable();
        assert_eq!(received, runs);
        let key = format!("{}:", jobs[0].id);
        assert!(batch.runs.iter().any(|run| run.fire_key.starts_with(&key) && run.attempt == 1 && run.not_after > 0));
        assert_eq!(states(node, &jobs).await, [RunState::Running; COUNT]);
    });
}

#[test]
fn each_run_of_a_batch_ends_by_its_own_answer() {
    with_executor(async |node, executor| {
        let answers = |runs: &[i64]| {
            let content =
                json!([{"logId": runs[0], "code": 200}, {"logId": runs[1], "code": 500, "msg": "no handler"}]);
            Reply::Body(json!({"code": 200, "content": content}).to_string())
        };
        let (jobs, _) = sent(node, executor, answers).await;
        let expected = [RunState::Running, RunState::Failed, RunState::Sending];
        assert_eq!(states(node, &jobs).await, expected, "the third one is in doubt");
        assert_eq!(node.runs(&jobs[1]).await[0].message(), "no handler");
        assert!(executor.runs().is_empty(), "none is sent again");
    });
}

#[test]
fn a_batch_whose_answer_is_lost_leaves_all_its_runs_in_doubt() {
    for reply in
        [Reply::Cut, Reply::Status(502), Reply::Body("{}".into()), Reply::Body(r#"{"code":200,"content":7}"#.into())]
    {
        with_executor(async |node, executor| {
            let (jobs, runs) = sent(node, executor, |_| reply.clone()).await;
            assert_eq!(states(node, &jobs).await, [RunState::Sending; COUNT], "{reply:?}");
            assert_eq!((executor.received("/runs").len(), executor.runs().len()), (1, 0), "{reply:?}");
            // Its journal decides: each is sent again, by itself.
            node.register_batching(executor).await;
            node.resolve_later().await;
            node.drain().await;
            let mut again: Vec<i64> = executor.runs().iter().map(|call| call.run_id()).collect();
            again.sort_unstable();
            assert_eq!(again, runs, "{reply:?}");
            assert_eq!(states(node, &jobs).await, [RunState::Running; COUNT], "{reply:?}");
        });
    }
}

#[test]
fn a_batch_that_is_refused_as_a_whole_is_sent_run_by_run() {
    with_executor(async |node, executor| {
        let unknown = "invalid request, uri-mapping(/runs) not found.";
        let (jobs, _) = sent(node, executor, |_| Reply::refused(unknown)).await;
        assert_eq!((executor.received("/runs").len(), executor.runs().len()), (1, COUNT));
        assert_eq!(states(node, &jobs).await, [RunState::Running; COUNT]);
    });
}

#[test]
fn a_batch_that_could_not_be_written_goes_to_the_next_executor_run_by_run() {
    on_node(async |node| {
        let (gone, other) = (RecordingExecutor::start().await, RecordingExecutor::start().await);
        node.register(&other).await;
        node.register_batching(&gone).await;
        let jobs = node.create_jobs(4, |draft| draft.route = "failover".parse().unwrap()).await;
        for job in &jobs {
            node.fire(job).await;
        }
        gone.die().await;
        node.round().await;
        assert_eq!(other.runs().len(), jobs.len());
        assert_eq!(states(node, &jobs).await, [RunState::Running; 4]);
    });
}
