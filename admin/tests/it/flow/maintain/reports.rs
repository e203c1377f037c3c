//! The service that counts runs for the reports, beside the one that deletes them.

use std::time::Duration;

use carillon_engine::runtime::Service as _;
use carillon_store::db::ids::{RUN, RUN_BLOCK_AGE};
use carillon_store::report::read::{ReportFilter, ReportGroup};
use carillon_store::retention::rules::{Retention, Scope};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, START, with_registered_executor};

async fn counted(node: &Node) -> i64 {
    let day = i32::try_from(START / 86_400_000).unwrap();
    let filter = ReportFilter { from_day: day - 1, to_day: day + 1, ..ReportFilter::default() };
    node.store.reports().read(&filter, ReportGroup::Day).await.unwrap().unwrap().total.counts.succeeded
}

async fn prune(node: &Node) {
    while node.services.pruner.step().await.next < Duration::from_secs(600) {}
}

#[test]
fn runs_count_when_no_lower_id_can_come_any_more_and_are_deleted_later() {
    with_registered_executor(async |node, executor| {
        let job = node.every(1, |_| {}).await;
        node.advance(1_000).await;
        node.advance(1_000).await;
        let runs = executor.runs();
        assert!(runs.len() >= 2);
        for run in node.runs(&job).await {
            node.callback(&[(run.id, 200, "")]).await;
        }
        let ended = node.runs(&job).await.iter().filter(|run| run.state.is_final()).count();
        assert!(ended >= 2);
        let rule = Retention { days: Some(1), failure_days: Some(1), failures: Some(0), ..Retention::default() };
        node.store.retention().set(Scope::All, rule, START, &actor()).await.unwrap();
        node.services.summarizer.step().await;
        assert_eq!(counted(node).await, 0, "a run with a lower id may come");
        // Two days pass, in which the service did not work: what is old stays as long as it does not count.
        node.clock.advance(Duration::from_secs(2 * 86_400));
        node.renew_leases().await;
        prune(node).await;
        assert!(node.metrics().contains("carillon_runs_pruned_total 0"));
        node.services.summarizer.step().await;
        assert_eq!(counted(node).await, ended as i64);
        prune(node).await;
        prune(node).await;
        assert!(node.metrics().contains(&format!("carillon_runs_pruned_total {ended}")), "{}", node.metrics());
        assert_eq!(counted(node).await, ended as i64);
    });
}

/// A node that was held up inserts it under an id that it had taken long before.
// covers: G20
#[test]
fn a_run_that_is_inserted_late_under_a_lower_id_counts() {
    const LAG: Duration = RUN_BLOCK_AGE.saturating_add(Duration::from_secs(120));
    with_registered_executor(async |node, executor| {
        let low = node.store.take_ids(&RUN, 1).await.unwrap()[0];
        let job = node.every(1, |_| {}).await;
        node.advance(1_000).await;
        node.advance(1_000).await;
        assert!(executor.runs().len() >= 2);
        for run in node.runs(&job).await {
            node.callback(&[(run.id, 200, "")]).await;
        }
        let runs = node.runs(&job).await;
        let ended = runs.iter().filter(|run| run.state.is_final()).count() as i64;
        assert!(ended >= 2 && runs.iter().all(|run| run.id > low), "{low}: {runs:?}");
        node.services.summarizer.step().await;
        node.clock.advance(LAG - Duration::from_secs(1));
        node.renew_leases().await;
        for text in [
            format!("CREATE TABLE late AS SELECT * FROM run WHERE id = {}", runs[0].id),
            format!("UPDATE late SET id = {low}, fire_no = fire_no - 1000000"),
            "INSERT INTO run SELECT * FROM late".to_owned(),
            "DROP TABLE late".to_owned(),
        ] {
            node.sql(&text).await;
        }
        node.services.summarizer.step().await;
        assert_eq!(counted(node).await, 0, "lower ids may come until now");
        node.clock.advance(Duration::from_secs(2));
        node.renew_leases().await;
        node.services.summarizer.step().await;
        assert_eq!(counted(node).await, ended + 1);
    });
}

#[test]
fn only_the_holder_of_the_first_shard_counts() {
    crate::flow::node::on_node(async |node| {
        assert_eq!(node.services.summarizer.step().await.next, Duration::from_secs(60));
        node.renew_leases().await;
        assert_eq!(node.services.summarizer.step().await.next, Duration::from_secs(15));
    });
}
