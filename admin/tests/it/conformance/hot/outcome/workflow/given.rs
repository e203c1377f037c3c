//! What nodes are given of their workflow, and which of their failures raise alarms.

use carillon_scheduler::{Cause, FireKey, RunEvent, RunReason, ScheduleDraft};
use serde_json::json;

use crate::conformance::fixture::{Fixture, NOW, actor};
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, failure, found};

databases! {
    // covers: 004-9
    async fn a_template_has_the_fire_key_that_executors_get(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(json!({"a": {"params": "{{workflow.fire_key}}"}})).await;
        let run_id = fixture.begun(&graph, NOW).await;
        let a = fixture.only(&graph, run_id, "a").await.id;
        let key = FireKey { job_id: graph.job.id, cause: Cause::Schedule, fire_no: NOW, part: 0 };
        assert_eq!(fixture.count("run_input", &format!("run_id = {a} AND params = '{key}'")).await, 1);
    }

    // covers: 004-9
    async fn the_instant_of_a_workflow_is_on_the_clock_of_its_schedule(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let of_workflow = "{{workflow.scheduled_at}} {{workflow.scheduled_at|%H|UTC}} {{workflow.scheduled_at|ms}}";
        let graph = fixture.graph_with(json!({"a": {"params": of_workflow}}), |name, draft| {
            if name == "workflow" {
                draft.schedule = ScheduleDraft::cron("0 0 2 * * ?", "Asia/Shanghai");
            }
        });
        let graph = graph.await;
        let run_id = fixture.begun(&graph, NOW).await;
        let a = fixture.only(&graph, run_id, "a").await.id;
        let params = format!("2025-10-09T16:54:00+08:00 08 {NOW}");
        assert_eq!(fixture.count("run_input", &format!("run_id = {a} AND params = '{params}'")).await, 1);
    }

    async fn the_instant_of_a_workflow_whose_job_is_gone_is_that_of_utc(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(json!({"a": {}, "b": {"after": [{"node": "a", "on": "failure"}], "params": "{{workflow.scheduled_at}}"}})).await;
        let run_id = fixture.begun(&graph, NOW).await;
        fixture.store.jobs().delete(graph.job.id, NOW, &actor()).await.unwrap();
        fixture.store.runs().settle(&[failure(fixture.only(&graph, run_id, "a").await.id)], &FOLLOW_UP).await.unwrap();
        fixture.go_on().await;
        let b = fixture.only(&graph, run_id, "b").await.id;
        let params = "2025-10-09T08:54:00Z";
        assert_eq!(fixture.count("run_input", &format!("run_id = {b} AND params = '{params}'")).await, 1);
    }

    // covers: 004-10
    async fn a_failure_that_the_definition_ignores_raises_no_alarm(db: &TestDatabase) {
        let fixture = Fixture::new(db).await;
        let graph = fixture.graph(json!({"a": {"if_failed": "ignore"}, "b": {}, "c": {"if_failed": "ignore"}})).await;
        let mut ends = vec![];
        for round in 0..2 {
            let run_id = fixture.begun(&graph, NOW + round).await;
            for node in ["a", "b"] {
                ends.push(failure(fixture.only(&graph, run_id, node).await.id));
            }
            let c = fixture.only(&graph, run_id, "c").await.id;
            ends.push(found(c, RunEvent::ExecutorGone, RunReason::Lost));
        }
        let settled = fixture.store.runs().settle(&ends, &FOLLOW_UP).await.unwrap();
        assert_eq!(settled.alarms.len(), 4);
        for (node, kind, raised) in [("a", "failed", 0), ("b", "failed", 2), ("c", "lost", 2)] {
            let of_node = format!("job_id = {} AND kind = '{kind}'", graph.job(node).id);
            assert_eq!(fixture.count("alarm", &of_node).await, raised, "{node}");
        }
        fixture.go_on().await;
        let of_workflow = format!("job_id = {} AND kind = 'failed'", graph.job.id);
        assert_eq!(fixture.count("alarm", &of_workflow).await, 2, "b has failed");
    }
}
