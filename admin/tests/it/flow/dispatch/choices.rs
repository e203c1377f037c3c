//! How each run's executor was chosen can be read afterwards.

use carillon_engine::manage::RunRequest;
use carillon_scheduler::{Cause, RouteStrategy, RunState};
use carillon_store::Job;
use carillon_store::run::route::RouteDecision;
use carillon_testkit::RecordingExecutor;

use crate::flow::dispatch::routes::flow;
use crate::flow::node::Node;

async fn choice(node: &Node, run_id: i64) -> Option<RouteDecision> {
    let run = node.store.runs().get(run_id).await.unwrap().unwrap();
    node.store.runs().route_decision(&run).await.unwrap()
}

async fn last_choice(node: &Node, job: &Job) -> RouteDecision {
    let run = node.runs(job).await.pop().unwrap();
    choice(node, run.id).await.unwrap()
}

fn addresses(executors: &[RecordingExecutor]) -> Vec<String> {
    executors.iter().map(|executor| executor.address.clone()).collect()
}

#[test]
fn a_plain_choice_is_two_columns_and_one_set_for_all() {
    flow(RouteStrategy::RoundRobin, async |node, executors, job| {
        let first = node.fire(job).await;
        assert_eq!(choice(node, first).await, None, "nothing is chosen yet");
        node.fire(job).await;
        node.round().await;
        let told = choice(node, first).await.unwrap();
        assert_eq!(told.route, Some(RouteStrategy::RoundRobin));
        assert_eq!(told.candidates, addresses(executors));
        assert!(executors.iter().any(|executor| Some(&executor.address) == told.chosen.as_ref()));
        assert_eq!((told.why.as_str(), told.story), ("it was its turn", Default::default()));
        let url = format!("sqlite://{}", node.config.data_dir.join("carillon.db").display());
        let raw = sea_orm::Database::connect(url).await.unwrap();
        for (table, rows) in [("candidate_set", 1), ("run_choice", 0)] {
            let text = format!("SELECT COUNT(*) FROM {table}");
            let row = sea_orm::ConnectionTrait::query_one_raw(
                &raw,
                sea_orm::Statement::from_string(sea_orm::DbBackend::Sqlite, text),
            );
            let count: i64 = row.await.unwrap().unwrap().try_get_by_index(0).unwrap();
            assert_eq!(count, rows, "{table}");
        }
    });
}

#[test]
fn a_hop_and_who_was_passed_over_are_told() {
    flow(RouteStrategy::First, async |node, executors, job| {
        executors[0].die().await;
        node.fire(job).await;
        node.round().await;
        let told = last_choice(node, job).await;
        assert_eq!(told.chosen.as_ref(), Some(&executors[1].address));
        assert_eq!(told.story.hops[0].address, executors[0].address);
        assert!(told.story.hops[0].what.contains("refused"), "{:?}", told.story);
        assert_eq!(told.why, format!("next in order: nothing could be written to {}", executors[0].address));
        // Its breaker is open now.
        node.fire(job).await;
        node.round().await;
        let told = last_choice(node, job).await;
        assert_eq!(told.story.skipped[0].address, executors[0].address);
        assert_eq!(told.story.skipped[0].what, "did not answer lately");
        assert_eq!(told.why, "next in order: one before it was passed over");
    });
}

#[test]
fn parts_and_runs_by_hand_say_so() {
    flow(RouteStrategy::Broadcast, async |node, executors, job| {
        node.fire(job).await;
        node.round().await;
        for run in node.runs(job).await {
            let told = choice(node, run.id).await.unwrap();
            assert_eq!((told.route, told.why.as_str()), (Some(RouteStrategy::Broadcast), "every executor gets a part"));
            assert_eq!(told.chosen, run.address);
        }
        let other = node.job(|_| ()).await;
        let ask = RunRequest {
            parts: None,
            job_id: other.id,
            cause: Cause::Manual,
            params: None,
            priority: None,
            address: Some(executors[1].address.clone()),
            idempotency_key: None,
        };
        node.engine.jobs().run(ask, &carillon_store::Actor::engine()).await.unwrap();
        node.round().await;
        let told = last_choice(node, &other).await;
        assert_eq!((told.route, told.why.as_str()), (None, "the executor was given with the fire"));
        assert_eq!(told.candidates, [executors[1].address.clone()]);
    });
}

#[test]
fn a_run_without_an_executor_has_a_choice_too() {
    flow(RouteStrategy::Random, async |node, executors, job| {
        for executor in executors {
            let gone = serde_json::json!({"registryGroup": "EXECUTOR", "registryKey": "orders", "registryValue": executor.address});
            node.post("api/registryRemove", &gone).await;
        }
        node.fire(job).await;
        node.round().await;
        node.advance(1_001).await;
        assert_eq!(node.states(job).await, [RunState::Failed]);
        let told = last_choice(node, job).await;
        assert_eq!(
            (told.route, told.chosen, told.why.as_str()),
            (Some(RouteStrategy::Random), None, "none could be chosen")
        );
        assert!(told.candidates.is_empty());
    });
}
