//! The beginning of a run.

use carillon_scheduler::RunState::{Claimed, Running};
use carillon_store::run::adopt::ClaimedRun;
use futures_util::future::join_all;

use super::graphs::{diamond, two};
use crate::conformance::fixture::{Fixture, NOW};

databases! {
    // covers: 004-9, I14
    async fn a_run_that_several_nodes_begin_at_once_begins_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let nodes = two(&fixture, db).await;
        let graph = fixture.graph(diamond()).await;
        for round in 0..5 {
            let run = &fixture.fire_of_graph(&graph, NOW + round).await;
            let holds = (0..6).map(|number| nodes[number % 2].workflows().hold(run, "given", NOW));
            let begun: Vec<bool> = join_all(holds).await.into_iter().map(Result::unwrap).collect();
            assert_eq!(begun.iter().filter(|begun| **begun).count(), 1, "{begun:?}");
            // Its node has not learned of its commit.
            assert!(!fixture.store.workflows().hold(run, "other", NOW + 1).await.unwrap());
            let of_run = format!("run_id = {}", run.run_id);
            assert_eq!(fixture.count("workflow_run", &format!("{of_run} AND params = 'given'")).await, 1);
            assert_eq!((fixture.count("workflow_node", &of_run).await, fixture.count("follow_up", &of_run).await), (4, 1));
            assert_eq!((fixture.state(run.run_id).await, fixture.row(run.run_id).await.sends), (Running, 0));
        }
        fixture.go_on().await;
        assert_eq!(fixture.of_node(&graph, "top").await.len(), 5);
    }

    // covers: I14
    async fn a_holder_with_an_old_epoch_begins_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(diamond()).await;
        let run = fixture.fire_of_graph(&graph, NOW).await;
        for epoch in [run.epoch - 1, run.epoch + 1] {
            let stale = ClaimedRun { epoch, ..run.clone() };
            assert!(!fixture.store.workflows().hold(&stale, "", NOW).await.unwrap());
        }
        assert_eq!(fixture.state(run.run_id).await, Claimed);
        for table in ["workflow_run", "workflow_node", "follow_up"] {
            assert_eq!(fixture.count(table, "1 = 1").await, 0, "{table}");
        }
        assert!(fixture.store.workflows().hold(&run, "", NOW).await.unwrap());
    }

    async fn a_run_that_begins_before_it_is_due_starts_nothing_before(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(diamond()).await;
        let run = fixture.fire_of_graph(&graph, NOW).await;
        let ahead = run.due_at - 40;
        assert!(fixture.store.workflows().hold(&run, "", ahead).await.unwrap());
        fixture.store.runs().advance(&[run.run_id], ahead).await.unwrap();
        assert_eq!(fixture.of_node(&graph, "top").await[0].due_at, run.due_at);
        assert_eq!(fixture.row(run.run_id).await.sent_at, Some(run.due_at));
    }

    // covers: I14
    async fn a_run_that_was_cancelled_is_not_begun(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(diamond()).await;
        let run = fixture.fire_of_graph(&graph, NOW).await;
        fixture.sql(&format!("UPDATE run SET state = 12 WHERE id = {}", run.run_id)).await;
        assert!(!fixture.store.workflows().hold(&run, "", NOW).await.unwrap());
        assert_eq!(fixture.count("workflow_node", "1 = 1").await, 0);
    }
}
