//! `/jobgroup` and `/chartInfo`.

use serde_json::{Value, json};

use super::client::{C1, C3, Script, on_node};

#[test]
fn a_group_is_an_app_with_the_addresses_of_its_executors() {
    on_node(async |node| {
        node.register_address("http://127.0.0.1:9999", None).await;
        for (dialect, add, remove, id_name) in [(C1, "save", "remove", "id"), (C3, "insert", "delete", "ids[]")] {
            let script = Script::admin(node, dialect).await;
            let call =
                async |name: &str, fields: &[(&str, &str)]| script.post(&format!("/jobgroup/{name}"), fields).await;
            let page = call("pageList", &[("appname", "orde"), ("title", "")]).await.body;
            assert_eq!(page["recordsTotal"], 1, "{page}");
            let row = &page["data"][0];
            assert_eq!((&row["appname"], &row["addressType"]), (&json!("orders"), &json!(0)));
            assert_eq!(
                (&row["addressList"], &row["registryList"]),
                (&json!("http://127.0.0.1:9999"), &json!(["http://127.0.0.1:9999"]))
            );
            let by_hand = [
                ("appname", "shop"),
                ("title", "Shop"),
                ("addressType", "1"),
                ("addressList", "http://127.0.0.1:7,http://127.0.0.1:8"),
            ];
            assert_eq!(call(add, &by_hand).await.payload(), &Value::Null);
            let app = node.store.apps().by_name("shop").await.unwrap().unwrap();
            let id = app.id.to_string();
            let loaded = call("loadById", &[("id", &id)]).await;
            let loaded = loaded.payload();
            assert_eq!((&loaded["title"], &loaded["addressType"]), (&json!("Shop"), &json!(1)));
            assert_eq!(loaded["addressList"], "http://127.0.0.1:7,http://127.0.0.1:8");
            call(
                "update",
                &[("id", &id), ("title", "Shop 2"), ("addressType", "1"), ("addressList", "http://127.0.0.1:8")],
            )
            .await
            .payload();
            call("update", &[("id", &id), ("appname", "shop")]).await.payload();
            let loaded = call("loadById", &[("id", &id)]).await;
            assert_eq!(
                (&loaded.payload()["title"], &loaded.payload()["addressList"]),
                (&json!("Shop 2"), &json!("http://127.0.0.1:8"))
            );
            call("update", &[("id", &id), ("addressType", "0")]).await.payload();
            assert_eq!(call("loadById", &[("id", &id)]).await.payload()["addressList"], Value::Null);
            call(remove, &[(id_name, &id)]).await.payload();
            assert!(node.store.apps().by_name("shop").await.unwrap().is_none());
            assert_eq!(call("loadById", &[("id", &id)]).await.failure(), format!("there is no app {id}"));
            let refused = call(add, &[("appname", "shop"), ("title", ""), ("addressType", "1")]).await;
            assert_eq!(refused.failure(), "addressList: is missing; the type 1 needs addresses");
        }
        node.job(|_| ()).await;
        let script = Script::admin(node, C1).await;
        let refused = script.post("/jobgroup/remove", &[("id", &node.app.id.to_string())]).await;
        assert!(refused.failure().contains("orders"), "{}", refused.body);
    });
}

#[test]
fn the_chart_has_a_number_for_each_day() {
    on_node(async |node| {
        let job = node.job(|_| ()).await;
        node.fire(&job).await;
        for dialect in [C1, C3] {
            let script = Script::admin(node, dialect).await;
            let span = [("startDate", "2025-10-07 00:00:00"), ("endDate", "2025-10-09 23:59:59")];
            let chart = script.post("/chartInfo", &span).await;
            let chart = chart.payload();
            assert_eq!(chart["triggerDayList"], json!(["2025-10-07", "2025-10-08", "2025-10-09"]));
            assert_eq!(chart["triggerDayCountRunningList"], json!([0, 0, 1]));
            assert_eq!((&chart["triggerCountRunningTotal"], &chart["triggerCountSucTotal"]), (&json!(1), &json!(0)));
            assert_eq!(chart["triggerDayCountFailList"], json!([0, 0, 0]));
        }
        let script = Script::admin(node, C1).await;
        let refused = script.post("/chartInfo", &[("startDate", "soon")]).await;
        assert_eq!(refused.failure(), "startDate: “soon” is no time such as 2025-07-04 15:00:00");
    });
}
