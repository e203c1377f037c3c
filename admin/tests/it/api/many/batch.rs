use serde_json::{Value, json};

use crate::api::client::{api, job};

#[test]
fn a_batch_is_answered_in_its_order() {
    api(async |api| {
        api.job(json!({})).await;
        let jobs: Vec<Value> = (0..30).map(|n| job(json!({"name": format!("job {n}")}))).collect();
        let made = api.post("/jobs:batch", json!(jobs)).await;
        assert_eq!(made.status, 201);
        let names: Vec<Value> = (0..30).map(|n| json!(format!("job {n}"))).collect();
        assert_eq!(made.column("name"), names);
        assert_eq!(made.json.as_object().unwrap().len(), 2, "items and next");
    });
}

#[test]
fn a_batch_is_stored_whole_or_not_at_all() {
    api(async |api| {
        api.job(json!({})).await;
        let wrong = async |at: usize, bad: Value| {
            let mut jobs = vec![job(json!({})); 5];
            jobs[at] = bad;
            api.post("/jobs:batch", json!(jobs)).await.error()
        };
        let bad_cron = job(json!({"schedule": {"kind": "cron", "expression": "0 0 25 * * ?"}}));
        assert!(wrong(3, bad_cron).await.starts_with("400 invalid [3].schedule.expression: "));
        let unknown = job(json!({"schedule": {"kind": "cron", "expression": "* * * * * ?", "zone": "UTC"}}));
        assert!(wrong(4, unknown).await.starts_with("400 invalid [4].schedule.zone: there is no member `zone`"));
        assert!(wrong(0, job(json!({"app": "shipping"}))).await.starts_with("400 invalid [0].app: there is no app"));
        let no_child = job(json!({"children": [77_777]}));
        assert_eq!(wrong(2, no_child).await, "400 invalid [2].children: there is no job 77777");
        assert_eq!(wrong(1, json!(7)).await, "400 invalid [1]: must be a job as an object");
        assert_eq!(wrong(2, json!({"app": "billing"})).await, "400 invalid [2].name: is missing; it is required");
        assert_eq!(api.get("/jobs").await.column("id").len(), 1, "none of all those");
    });
}

#[test]
fn a_batch_has_1_to_1000_jobs() {
    api(async |api| {
        api.job(json!({})).await;
        let of = |count: usize| json!(vec![job(json!({"schedule": {"kind": "fixed_rate", "seconds": 1}})); count]);
        assert_eq!(
            api.post("/jobs:batch", of(1001)).await.error(),
            "400 invalid the array has 1001 jobs; 1 to 1000 are allowed"
        );
        assert!(api.post("/jobs:batch", of(0)).await.error().starts_with("400 invalid the array has 0 jobs"));
        assert_eq!(
            api.post("/jobs:batch", job(json!({}))).await.error(),
            "400 invalid the body must be an array of jobs"
        );
        assert_eq!(api.post("/jobs:batch", of(1000)).await.column("id").len(), 1000);
        assert_eq!(api.post("/jobs%3Abatch", of(1)).await.status, 201, "an encoded colon is a colon");
    });
}

#[test]
fn a_repeated_key_makes_no_second_batch() {
    api(async |api| {
        api.job(json!({})).await;
        let batch = json!([job(json!({"name": "a"})), job(json!({"name": "b"}))]);
        let first = api.post_with_key("/jobs:batch", "monday", batch.clone()).await.ok();
        assert_eq!(api.post_with_key("/jobs:batch", "monday", batch).await.ok(), first);
    });
}
