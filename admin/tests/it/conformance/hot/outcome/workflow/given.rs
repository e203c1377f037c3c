//! What nodes are given of their workflow.

use carillon_scheduler::{Cause, FireKey};
use serde_json::json;

use crate::conformance::fixture::{Fixture, NOW};

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
}
