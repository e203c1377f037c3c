use serde_json::{Value, json};

use super::client::{Api, api};
use carillon_store::audit::list::AuditFilter;

/// The app `billing` with one executor that announces a weight; the path of its executors.
async fn billing(api: &Api) -> String {
    let app = api.post("/apps", json!({"name": "billing"})).await.ok();
    api.sql(
        "INSERT INTO executor (app, address, registered_at, seen_at, expires_at, weight, labels) VALUES \
             ('billing', 'http://x:1', 1, 1, 9000000000000, 5, 'zone=eu')",
    )
    .await;
    format!("/apps/{}/executors", app["id"])
}

// covers: 004-14
#[test]
fn an_operator_sets_weight_and_labels() {
    api(async |api| {
        let path = billing(api).await;
        let item = async || api.get(&path).await.ok()["items"][0].clone();
        let told = |item: &Value| (item["weight"].clone(), item["labels"].clone());
        let first = item().await;
        assert_eq!(told(&first), (json!(5), json!("zone=eu")));
        assert_eq!((&first["own"], &first["live"]), (&json!(false), &json!(true)));
        assert_eq!(first["set"], json!({"weight": null, "labels": null}));
        let set = json!({"address": "http://x:1", "weight": 7, "labels": " zone = us , gpu=yes"});
        let answer = api.put(&path, set).await.ok();
        assert_eq!(told(&answer), (json!(7), json!("gpu=yes,zone=us")));
        assert_eq!(answer["announced"], json!({"weight": 5, "labels": "zone=eu"}));
        assert_eq!(item().await, answer);
        let none = json!({"address": "http://x:1", "labels": ""});
        assert_eq!(told(&api.put(&path, none).await.ok()), (json!(5), json!("")));
        assert_eq!(told(&api.put(&path, json!({"address": "http://x:1"})).await.ok()), told(&first));
        let audit = api.store.audit().list(&AuditFilter { limit: 10, ..AuditFilter::default() }).await.unwrap().items;
        assert_eq!(audit.iter().filter(|entry| entry.action == "update_executor").count(), 3);
    });
}

#[test]
fn what_is_wrong_with_a_setting_is_said() {
    api(async |api| {
        let path = billing(api).await;
        let wrong = async |body| api.put(&path, body).await.error();
        let with = |member: &str, value: Value| {
            let mut body = json!({"address": "http://x:1"});
            body[member] = value;
            body
        };
        for (body, told) in [
            (json!({"weight": 3}), "400 invalid address: is missing; it is required"),
            (json!({"address": 3}), "400 invalid address: invalid type: integer `3`, expected a string"),
            (
                json!({"address": "http://y:1"}),
                "400 invalid address: no executor of app billing has registered http://y:1",
            ),
            (with("weight", json!(0)), "400 invalid weight: 0 is not allowed; 1 to 100"),
            (with("weight", json!("3")), "400 invalid weight: invalid type: string \"3\", expected a whole number"),
            (
                with("labels", json!("gpu")),
                "400 invalid labels: `gpu` is no label; write key=value, several with commas between",
            ),
            (with("labels", json!(["gpu=yes"])), "400 invalid labels: invalid type: sequence, expected a string"),
            (
                with("wheight", json!(1)),
                "400 invalid wheight: there is no member `wheight`; expected one of `address`, `weight`, `labels`",
            ),
        ] {
            assert_eq!(wrong(body).await, told);
        }
        assert_eq!(api.get("/apps/999/executors").await.error(), "404 not_found there is no app 999");
    });
}

#[test]
fn a_run_tells_how_its_executor_was_chosen() {
    api(async |api| {
        let job = api.job(json!({"route": "failover"})).await;
        let run = api.post(&format!("/jobs/{}/run", job["id"]), json!({})).await.ok();
        assert_eq!(run["choice"], Value::Null, "nothing is chosen yet");
        let id = &run["id"];
        api.sql(r#"INSERT INTO candidate_set (id, addresses, used_at) VALUES (77, '["http://x:1","http://y:1"]', 0)"#)
            .await;
        api.sql(&format!(
            "UPDATE run SET state = 2, address = 'http://y:1', candidates_id = 77, route_code = 8 WHERE id = {id}"
        ))
        .await;
        let story = r#"{"answers":[{"address":"http://x:1","what":"no answer in time"},{"address":"http://y:1","what":"alive"}]}"#;
        api.sql(&format!("INSERT INTO run_choice (run_id, detail) VALUES ({id}, '{story}')")).await;
        let told = api.get(&format!("/runs/{id}")).await.ok()["choice"].clone();
        let expected = json!({
            "route": "failover",
            "candidates": ["http://x:1", "http://y:1"],
            "answers": [{"address": "http://x:1", "answer": "no answer in time"}, {"address": "http://y:1", "answer": "alive"}],
            "skipped": [],
            "hops": [],
            "chosen": "http://y:1",
            "why": "it was the first to answer that it is alive"
        });
        assert_eq!(told, expected);
    });
}

// covers: S21
#[test]
fn an_address_is_entered_drained_and_removed() {
    api(async |api| {
        let path = billing(api).await;
        let entered = api.post(&path, json!({"address": "http://10.0.0.9:1"})).await;
        assert_eq!(entered.status, 201);
        let told = |item: &Value| ["manual", "live", "expires_at", "draining_since"].map(|member| item[member].clone());
        assert_eq!(told(&entered.json), [json!(true), json!(true), Value::Null, Value::Null]);
        let drain = async |address: &str, draining: Value| {
            api.put(&format!("{path}/drain"), json!({"address": address, "draining": draining})).await
        };
        assert!(drain("http://x:1", json!(true)).await.ok()["draining_since"].is_string());
        let items = api.get(&path).await.ok()["items"].clone();
        assert_eq!((&items[0], items[1]["manual"].clone()), (&entered.json, json!(false)));
        assert!(items[1]["draining_since"].is_string() && items[1]["expires_at"].is_string(), "{items}");
        assert_eq!(drain("http://x:1", json!(false)).await.ok()["draining_since"], Value::Null);
        let remove = async |address: &str| api.delete(&format!("{path}?address={address}")).await;
        assert_eq!(remove("http://10.0.0.9:1").await.status, 204);
        assert_eq!(api.get(&path).await.column("address"), ["http://x:1"]);
        for (answer, told) in [
            (api.post(&path, json!({"address": "10.0.0.9"})).await, "400 invalid address: no URL; it must be "),
            (api.post(&path, json!({"address": "http://10.0.0.9:1"})).await, "201"),
            (
                api.post(&path, json!({"address": "http://10.0.0.9:1"})).await,
                "409 in_use http://10.0.0.9:1 was entered already",
            ),
            (drain("http://y:1", json!(true)).await, "400 invalid address: no executor of app billing has registered"),
            (drain("http://x:1", json!("yes")).await, "400 invalid draining: "),
            (remove("http://y:1").await, "400 invalid address: no executor of app billing has registered http://y:1"),
            (remove("").await, "400 invalid address: is missing"),
            (
                api.post("/apps/999/executors", json!({"address": "http://x:1"})).await,
                "404 not_found there is no app 999",
            ),
        ] {
            match told {
                "201" => assert_eq!(answer.status, 201),
                _ => assert!(answer.error().starts_with(told), "{} is not {told}", answer.error()),
            }
        }
    });
}
