//! The metrics of each app.

use std::time::Duration;

use carillon_testkit::RecordingExecutor;

use crate::flow::node::{Node, on_node};

fn assert_metrics(node: &Node, lines: &[&str]) {
    let metrics = node.metrics();
    for line in lines {
        assert!(metrics.lines().any(|it| it == *line), "no {line} in {metrics}");
    }
}

// covers: 001-49, 003-26
#[test]
fn lateness_bursts_and_overdue_runs_are_counted_by_app() {
    on_node(async |node| {
        node.every(1, |_| ()).await;
        node.renew_leases().await;
        node.scan().await;
        node.clock.advance(Duration::from_millis(4_500));
        node.scan().await;
        let overdue = r#"carillon_app_overdue_runs{app="orders"} 3"#;
        assert_metrics(node, &[overdue, "carillon_fires_missed_total 0"]);
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        node.round().await;
        assert_eq!(executor.runs().len(), 4, "1, 2, 3 and 4 s");
        let counted = [
            r#"carillon_app_burst_runs_total{app="orders"} 3"#,
            r#"carillon_app_lateness_seconds_count{app="orders"} 4"#,
            r#"carillon_app_lateness_seconds_sum{app="orders"} 8"#,
            "carillon_lateness_seconds_count 4",
        ];
        assert_metrics(node, &counted);
        assert!(!node.metrics().contains("carillon_app_overdue_runs{"));
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), 5);
        assert_metrics(node, &counted[..1]);
    });
}
