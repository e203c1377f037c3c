//! `/joblog`.

use carillon_testkit::{RecordingExecutor, Reply};
use serde_json::{Value, json};

use super::client::{C1, C3, Script, on_node};

#[test]
fn a_run_is_a_log_from_its_trigger_to_its_result() {
    on_node(async |node| {
        let executor = RecordingExecutor::start().await;
        node.register(&executor).await;
        let job = node.job(|draft| draft.params = "own".into()).await;
        let (old, new) = (Script::admin(node, C1).await, Script::admin(node, C3).await);
        let (group, job_id) = (node.app.id.to_string(), job.id.to_string());
        let list = async |status: &str| {
            let fields = [
                ("jobGroup", &*group),
                ("jobId", &job_id),
                ("logStatus", status),
                ("filterTime", "2025-10-09 00:00:00 - 2025-10-09 23:59:59"),
            ];
            let page = old.post("/joblog/pageList", &[&fields[..], &[("start", "0"), ("length", "10")]].concat()).await;
            let other =
                new.post("/joblog/pageList", &[&fields[..], &[("offset", "0"), ("pagesize", "10")]].concat()).await;
            assert_eq!(other.payload()["total"], page.body["recordsTotal"], "{}", page.body);
            page.body["data"].clone()
        };
        old.post("/jobinfo/trigger", &[("id", &job_id)]).await.payload();
        let rows = list("-1").await;
        assert_eq!((&rows[0]["triggerCode"], &rows[0]["handleCode"]), (&json!(0), &json!(0)));
        node.round().await;
        let rows = list("3").await;
        let row = &rows[0];
        assert_eq!((&row["triggerCode"], &row["handleCode"]), (&json!(200), &json!(0)), "{row}");
        assert_eq!((&row["executorAddress"], &row["executorParam"]), (&json!(executor.address), &json!("own")));
        assert_eq!(
            (&row["jobGroup"], &row["jobId"], &row["executorHandler"]),
            (&json!(node.app.id), &json!(job.id), &json!("handle"))
        );
        let run = row["id"].as_i64().unwrap();
        node.callback(&[(run, 200, "well done")]).await;
        assert_eq!((list("2").await, list("3").await), (json!([]), json!([])));
        let rows = list("1").await;
        assert_eq!((&rows[0]["handleCode"], &rows[0]["handleMsg"]), (&json!(200), &json!("well done")));
        let lines = json!({"fromLineNum": 1, "toLineNum": 2, "logContent": "one\ntwo\n", "isEnd": true});
        executor.reply_to("/log", Reply::Body(json!({"code": 200, "msg": null, "content": lines}).to_string()));
        for script in [&old, &new] {
            let page = script.post("/joblog/logDetailCat", &[("logId", &run.to_string()), ("fromLineNum", "1")]).await;
            let page = page.payload();
            assert_eq!(
                (&page["logContent"], &page["toLineNum"], &page["end"]),
                (&json!("one\ntwo\n"), &json!(2), &json!(true))
            );
        }
        let refused = old.post("/joblog/logKill", &[("id", &run.to_string())]).await;
        assert_eq!(refused.failure(), "id: the run has ended already");
        let refused = old.post("/joblog/pageList", &[("filterTime", "today")]).await;
        assert_eq!(refused.failure(), "filterTime: must be two times: 2025-07-04 00:00:00 - 2025-07-04 23:59:59");
        let jobs = old.post("/joblog/getJobsByGroup", &[("jobGroup", &group)]).await;
        assert_eq!(jobs.payload()[0]["jobDesc"], "job");
    });
}

#[test]
fn a_run_is_killed_before_it_is_sent() {
    on_node(async |node| {
        let job = node.job(|_| ()).await;
        for dialect in [C1, C3] {
            let script = Script::admin(node, dialect).await;
            let run = node.fire(&job).await.to_string();
            assert_eq!(script.post("/joblog/logKill", &[("id", &run)]).await.payload(), &Value::Null);
            let refused = script.post("/joblog/logDetailCat", &[("logId", &run)]).await;
            assert_eq!(refused.failure(), "the run was never sent, so there is no log");
            let rows = script.post("/joblog/pageList", &[("logStatus", "2")]).await.body["data"].clone();
            assert_eq!((&rows[0]["triggerCode"], &rows[0]["handleCode"]), (&json!(500), &json!(0)));
            assert_eq!(rows[0]["triggerMsg"], "Called off before it was sent.");
        }
    });
}
