//! The OpenAPI of xxl-job 3.5.

use carillon_store::{Grants, Role};
use serde_json::{Value, json};

use super::client::{Script, account, on_node, with_settings};

#[test]
fn a_job_is_made_changed_started_run_stopped_and_removed() {
    on_node(async |node| {
        let all = Grants::for_all(Role::Editor);
        let token = account(node, "ada", &all, &all).await;
        let script = Script::new(node);
        let call =
            async |name: &str, body: Value| script.open(&format!("/xxl-job-admin/api/{name}"), &token, &body).await;
        let child = node.job(|_| ()).await;
        let made = call(
            "addJob",
            json!({
                "jobGroup": node.app.id, "name": "Close the day", "author": "ada", "alarmEmail": "", "scheduleType": "FIX_RATE",
                "scheduleConf": "60", "misfireStrategy": "FIRE_ONCE_NOW", "executorRouteStrategy": "FIRST",
                "executorHandler": "closeDay", "executorParam": "own", "executorBlockStrategy": "COVER_EARLY",
                "executorTimeout": 5, "executorFailRetryCount": 1, "glueType": "BEAN", "glueSource": null,
            }),
        )
        .await;
        let id: i64 = made.payload().as_str().unwrap().parse().unwrap();
        let draft = async || node.store.jobs().get(id).await.unwrap().unwrap().draft;
        let mut with_child = draft().await;
        with_child.children = vec![child.id];
        node.engine.jobs().update(id, &with_child, None, &carillon_store::Actor::engine()).await.unwrap();
        call("updateJob", json!({"id": id, "name": "New", "executorTimeout": 6})).await.payload();
        let changed = draft().await;
        assert_eq!((changed.name.as_str(), changed.timeout_seconds, changed.children), ("New", 6, vec![child.id]));
        call("startJob", json!({"id": id})).await.payload();
        assert!(draft().await.enabled);
        call("triggerJob", json!({"id": id, "executorParam": null, "addressList": null})).await.payload();
        call("triggerJob", json!({"id": id, "executorParam": "x"})).await.payload();
        let job = node.store.jobs().get(id).await.unwrap().unwrap();
        assert_eq!(node.runs(&job).await.len(), 2);
        call("stopJob", json!({"id": id})).await.payload();
        assert!(!draft().await.enabled);
        call("removeJob", json!({"id": id})).await.payload();
        assert_eq!(
            call("removeJob", json!({"id": id})).await.failure(),
            format!("openapi invoke error: there is no job {id}")
        );
        assert!(call("addJob", json!([1])).await.failure().starts_with("openapi invoke error: the body: "));
    });
}

// covers: S15
#[test]
fn only_a_personal_token_opens_it() {
    on_node(async |node| {
        let script = Script::new(node);
        let body = json!({"id": 1});
        let failure = async |token: &str| script.open("/api/startJob", token, &body).await.failure().to_owned();
        let of_executors = failure(&node.config.access_token).await;
        assert!(of_executors.contains("this is a token of executors"), "{of_executors}");
        assert!(failure("").await.ends_with("send a personal token as the header XXL-JOB-ACCESS-TOKEN"));
        assert!(failure("nonsense").await.ends_with("this is no personal token that is valid"));
        let view = Grants::for_all(Role::Viewer);
        let token = account(node, "ada", &view, &view).await;
        assert_eq!(failure(&token).await, "openapi invoke error: only an operator of an app may do this");
    });
    with_settings(
        |config| config.request_rate = 1,
        async |node| {
            let all = Grants::for_all(Role::Admin);
            let token = account(node, "ada", &all, &all).await;
            let script = Script::new(node);
            let mut codes = vec![];
            for _ in 0..40 {
                codes.push(script.open("/api/stopJob", &token, &json!({"id": 1})).await.body["code"].as_i64().unwrap());
            }
            assert_eq!(codes.last(), Some(&502), "{codes:?}");
        },
    );
}
