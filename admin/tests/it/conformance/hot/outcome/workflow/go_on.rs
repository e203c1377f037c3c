//! What follows from the ends of nodes.

use std::sync::Arc;

use carillon_scheduler::RunState::{Claimed, Failed, Lost, Running, Succeeded};
use carillon_scheduler::{RunEvent, RunReason};
use carillon_store::Store;
use carillon_store::run::settle::finding::{Reporter, ReporterToken, RunReport};
use futures_util::future::join_all;

use super::graphs::{Graph, diamond, two};
use crate::conformance::fixture::{Fixture, NOW};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, found, success};

/// The end of a run and what follows from it, as one node does it.
async fn end(store: &Store, run_id: i64) {
    let settled = store.runs().settle(&[success(run_id)], &FOLLOW_UP).await.unwrap();
    // Another session may hold the workflow: the note stays.
    store.runs().advance(&settled.followed, FOLLOW_UP.now).await.unwrap();
}

databases! {
    // covers: 004-9, I14
    async fn nodes_that_follow_start_once_however_many_see_to_it(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let nodes = two(&fixture, db).await;
        let graph = fixture.graph(diamond()).await;
        let run_id = fixture.begun(&graph, NOW).await;
        let top = fixture.only(&graph, run_id, "top").await;
        // Its node dies between the end and what follows.
        fixture.store.runs().settle(&[success(top.id)], &FOLLOW_UP).await.unwrap();
        assert_eq!((fixture.noted().await, fixture.of_node(&graph, "left").await.len()), (vec![top.id], 0));
        let shards = [i64::from(top.shard)];
        let forgotten = fixture.store.runs().forgotten_ends(&shards, FOLLOW_UP.now + 1, 10).await.unwrap();
        assert_eq!(forgotten, [top.id], "the holder of the shard finds it");
        let all = (0..5).map(|number| nodes[number % 2].runs().advance(&forgotten, FOLLOW_UP.now));
        let all = join_all(all).await;
        assert!(all.iter().all(Result::is_ok), "{all:?}");
        fixture.go_on().await;
        // One that comes late, and one that has not learned of its commit.
        let again = fixture.store.runs().advance(&forgotten, FOLLOW_UP.now).await.unwrap();
        assert_eq!((again.to_scan, again.held_up), (vec![], vec![]));
        for node in ["left", "right"] {
            let run = fixture.only(&graph, run_id, node).await;
            assert_eq!((run.state(), run.attempt, run.epoch), (Claimed, 1, 0), "{node}");
            assert_eq!((run.shard, run.scheduled_at), (graph.job(node).shard, NOW));
        }
        assert_eq!(fixture.of_node(&graph, "bottom").await.len(), 0, "its parents have not ended");
    }

    // covers: 004-9, I14
    async fn two_last_parents_that_end_at_once_start_the_join_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let [one, other] = two(&fixture, db).await;
        let graph = fixture.graph(diamond()).await;
        for round in 0..12 {
            let run_id = fixture.begun(&graph, NOW + round).await;
            end(&one, fixture.only(&graph, run_id, "top").await.id).await;
            fixture.go_on().await;
            fixture.send().await;
            let (left, right) = (fixture.only(&graph, run_id, "left").await.id, fixture.only(&graph, run_id, "right").await.id);
            tokio::join!(end(&one, left), end(&other, right));
            fixture.go_on().await;
            let bottom = fixture.only(&graph, run_id, "bottom").await;
            let both = format!("run_id = {} AND params = '{{\"left\":\"said 200\",\"right\":\"said 200\"}}'", bottom.id);
            assert_eq!(fixture.count("run_input", &both).await, 1, "the results of its parents by name");
            fixture.send().await;
            end(&other, bottom.id).await;
            fixture.go_on().await;
            assert_eq!(fixture.state(run_id).await, Succeeded);
        }
    }

    // covers: 004-10, I14
    async fn an_end_that_became_known_late_starts_what_waited_for_it_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let nodes = two(&fixture, db).await;
        let graph = fixture.graph(diamond()).await;
        let run_id = fixture.begun(&graph, NOW).await;
        end(&fixture.store, fixture.only(&graph, run_id, "top").await.id).await;
        fixture.go_on().await;
        fixture.send().await;
        let (left, right) = (fixture.only(&graph, run_id, "left").await.id, fixture.only(&graph, run_id, "right").await.id);
        let lost = found(left, RunEvent::ExecutorGone, RunReason::Lost);
        fixture.store.runs().settle(&[lost], &FOLLOW_UP).await.unwrap();
        fixture.go_on().await;
        assert_eq!((fixture.state(left).await, fixture.state(run_id).await), (Lost, Running));
        assert!(fixture.nodes(run_id).await.contains("left failed"), "until there is evidence");
        // The evidence and the other parent's end at the same moment.
        tokio::join!(end(&nodes[0], left), end(&nodes[1], right));
        fixture.go_on().await;
        fixture.only(&graph, run_id, "bottom").await;
        fixture.send().await;
        let bottom = fixture.only(&graph, run_id, "bottom").await.id;
        fixture.store.runs().settle(&[failure(bottom)], &FOLLOW_UP).await.unwrap();
        fixture.go_on().await;
        assert_eq!(fixture.state(run_id).await, Failed);
        assert_eq!(fixture.count("run", "1 = 1").await, 5);
    }

    // covers: 004-10
    async fn a_workflow_ends_as_failed_if_a_node_was_too_late_to_run(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let cleanup = serde_json::json!({"after": [{"node": "b", "on": "always"}]});
        let graph = fixture.graph(serde_json::json!({"a": {}, "b": {"after": ["a"]}, "c": cleanup})).await;
        let run_id = fixture.begun(&graph, NOW).await;
        let a = fixture.only(&graph, run_id, "a").await.id;
        fixture.store.runs().settle(&[found(a, RunEvent::ExecutorGone, RunReason::Lost)], &FOLLOW_UP).await.unwrap();
        fixture.go_on().await;
        fixture.send().await;
        end(&fixture.store, a).await;
        assert_eq!(fixture.nodes(run_id).await, "a succeeded, b upstream_failed, c running");
        end(&fixture.store, fixture.only(&graph, run_id, "c").await.id).await;
        fixture.go_on().await;
        assert_eq!((fixture.state(run_id).await, fixture.of_node(&graph, "b").await.len()), (Failed, 0));
        let message = "b: too late: a node after it has started; 1 node was not run";
        assert_eq!(fixture.row(run_id).await.result_msg.as_deref(), Some(message));
    }

    // covers: I14
    async fn a_sub_workflow_begins_and_ends_once(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let nodes = two(&fixture, db).await;
        let graph = fixture.graph(serde_json::json!({"x": {}, "y": {}})).await;
        let mut draft = graph.job.draft.clone();
        draft.name = "outer".into();
        let workflow = serde_json::json!({"nodes": {"in": {"job": graph.job.id}, "last": {"job": graph.job("x").id, "after": ["in"]}}});
        draft.workflow = Some(serde_json::from_value(workflow).unwrap());
        let outer = fixture.create(&draft).await;
        let outer = Graph { job: outer, jobs: vec![("in".into(), graph.job.clone())] };
        let run = fixture.fire_of_graph(&outer, NOW).await;
        fixture.store.workflows().hold(&run, "", NOW).await.unwrap();
        fixture.go_on().await;
        let inner = &fixture.claimed(fixture.only(&outer, run.run_id, "in").await.id).await;
        let holds = join_all((0..4).map(|number| nodes[number % 2].workflows().hold(inner, "", NOW))).await;
        assert_eq!(holds.into_iter().filter(|begun| *begun.as_ref().unwrap()).count(), 1);
        fixture.go_on().await;
        fixture.send().await;
        let (x, y) = (fixture.only(&graph, inner.run_id, "x").await.id, fixture.only(&graph, inner.run_id, "y").await.id);
        tokio::join!(end(&nodes[0], x), end(&nodes[1], y));
        fixture.go_on().await;
        assert_eq!((fixture.state(inner.run_id).await, fixture.state(run.run_id).await), (Succeeded, Running));
        assert_eq!(fixture.nodes(run.run_id).await, "in succeeded, last running");
    }

    // covers: I14
    async fn an_end_that_was_found_before_a_node_started_ends_nothing(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let runs = fixture.store.runs();
        let graph = fixture.graph(serde_json::json!({"a": {}, "b": {"after": ["a"]}})).await;
        let run_id = fixture.begun(&graph, NOW).await;
        let a = fixture.only(&graph, run_id, "a").await.id;
        let lost = runs.settle(&[found(a, RunEvent::ExecutorGone, RunReason::Lost)], &FOLLOW_UP).await.unwrap();
        let found_end = runs.advance(&lost.followed, FOLLOW_UP.now).await.unwrap().to_end;
        assert_eq!(found_end.len(), 1);
        // Before it is written the executor reports after all.
        end(&fixture.store, a).await;
        assert_eq!(fixture.nodes(run_id).await, "a succeeded, b running");
        assert_eq!(runs.settle(&found_end, &FOLLOW_UP).await.unwrap().changed, []);
        assert_eq!(fixture.state(run_id).await, Running);
        fixture.send().await;
        end(&fixture.store, fixture.only(&graph, run_id, "b").await.id).await;
        fixture.go_on().await;
        assert_eq!(fixture.state(run_id).await, Succeeded);
    }

    // covers: I14
    async fn no_report_of_an_executor_ends_a_workflow(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(diamond()).await;
        let run_id = fixture.begun(&graph, NOW).await;
        let token = ReporterToken::Global { except: Arc::default() };
        let reporter = Arc::new(Reporter { token, boot_id: None, journal_id: None, source: "10.0.0.1".into() });
        for report in [success(run_id), failure(run_id)] {
            let report = RunReport { reporter: Some(reporter.clone()), ..report };
            let settled = fixture.store.runs().settle(&[report], &FOLLOW_UP).await.unwrap();
            assert_eq!((settled.changed, settled.foreign.len()), (vec![], 1));
        }
        assert_eq!(fixture.state(run_id).await, Running);
    }
}
