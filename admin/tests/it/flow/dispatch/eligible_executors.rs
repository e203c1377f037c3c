//! Which executors a job's runs may go to, and which they stay with.

use carillon_scheduler::{Clock as _, RouteStrategy, RunState};

use crate::conformance::fixture::actor;
use crate::flow::dispatch::routes::{announce, counts, fires, flow};
use crate::flow::node::Node;

#[test]
fn labels_restrict_every_route_and_the_route_by_label_takes_turns() {
    flow(RouteStrategy::First, async |node, executors, _| {
        announce(node, &executors[1], &[("Carillon-Labels", "zone=eu, gpu=yes")]).await;
        announce(node, &executors[2], &[("Carillon-Labels", "gpu=yes,zone=us")]).await;
        let with = async |route, labels: &str| {
            node.job(|draft| (draft.route, draft.route_labels) = (route, labels.to_owned())).await
        };
        fires(node, &with(RouteStrategy::First, "zone=us").await, 1).await;
        assert_eq!(counts(executors), [0, 0, 1]);
        fires(node, &with(RouteStrategy::Label, "gpu=yes").await, 4).await;
        assert_eq!(counts(executors), [0, 2, 3]);
        let nowhere = with(RouteStrategy::RoundRobin, "gpu=yes,zone=asia").await;
        fires(node, &nowhere, 1).await;
        node.advance(1_001).await;
        let runs = node.runs(&nowhere).await;
        assert_eq!(runs[0].state, RunState::Failed);
        assert_eq!(runs[0].message(), "no executor of app orders has the labels gpu=yes,zone=asia");
    });
}

#[test]
fn a_sticky_job_stays_where_it_is_also_when_another_node_takes_over() {
    flow(RouteStrategy::Sticky, async |node, executors, job| {
        fires(node, job, 3).await;
        let first = counts(executors).iter().position(|count| *count > 0).unwrap();
        assert_eq!(counts(executors)[first], 3);
        executors[first].die().await;
        fires(node, job, 1).await;
        fires(node, job, 2).await;
        let second = (0..3).find(|index| *index != first && counts(executors)[*index] > 0).unwrap();
        assert_eq!(counts(executors)[second], 3);
        assert_eq!(node.store.runs().sticky(&[job.id]).await.unwrap(), [(job.id, executors[second].address.clone())]);
        // A new process, which has never routed it: it does not go back to where the hash would send it.
        let later = node.clock.now() + 20_000;
        let after = Node::restarted(node, node.config.clone(), later).await;
        for _ in 0..2 {
            after.fire(job).await;
            after.round().await;
        }
        assert_eq!(counts(executors)[second], 5, "{:?}", counts(executors));
        after.store.jobs().delete(job.id, later, &actor()).await.unwrap();
        assert_eq!(after.store.runs().sticky(&[job.id]).await.unwrap(), []);
    });
}

// covers: 004-17
#[test]
fn who_has_missed_two_heartbeats_comes_after_all_others() {
    flow(RouteStrategy::First, async |node, executors, job| {
        for second in 0..65 {
            if second == 30 {
                node.register(&executors[1]).await;
                node.register(&executors[2]).await;
            }
            node.advance(1_000).await;
        }
        fires(node, job, 1).await;
        assert_eq!(counts(executors), [0, 1, 0], "the first is suspect, but not dead");
    });
}
