//! `/jobinfo`.

use carillon_scheduler::{ClockChanges, KindDraft, MisfirePolicy, RouteStrategy};
use serde_json::{Value, json};

use super::client::{C1, C3, Script, job_fields, on_node, with_settings};
use crate::flow::node::Node;

/// The group of the app, as its number.
fn group(node: &Node) -> String {
    node.app.id.to_string()
}

async fn add(script: &Script, path: &str, fields: &[(&str, &str)]) -> i64 {
    let answer = script.post(path, fields).await;
    answer.payload().as_str().unwrap_or_else(|| panic!("{}", answer.body)).parse().unwrap()
}

#[test]
fn a_job_is_made_stopped_with_the_values_of_an_import() {
    with_settings(
        |config| config.report_zone = "Asia/Shanghai".parse().unwrap(),
        async |node| {
            for (dialect, path) in [(C1, "/jobinfo/add"), (C1, "/jobinfo/save"), (C3, "/jobinfo/insert")] {
                let script = Script::admin(node, dialect).await;
                let id = add(&script, path, &job_fields(&group(node), &[("childJobId", "")])).await;
                let draft = node.store.jobs().get(id).await.unwrap().unwrap().draft;
                assert_eq!((draft.enabled, draft.takes_result, draft.misfire), (false, false, MisfirePolicy::Skip));
                assert_eq!((draft.route, draft.retries, draft.timeout_seconds), (RouteStrategy::RoundRobin, 2, 60));
                assert_eq!((draft.owner.as_str(), draft.params.as_str()), ("ada", "own"));
                let KindDraft::Cron(cron) = draft.schedule.kind else { panic!("no cron") };
                assert_eq!((cron.timezone.as_str(), cron.clock_changes), ("Asia/Shanghai", ClockChanges::Xxl));
            }
        },
    );
}

#[test]
fn a_list_has_the_pages_and_filters_of_each_dialect() {
    on_node(async |node| {
        let (old, new) = (Script::admin(node, C1).await, Script::admin(node, C3).await);
        for (name, author) in [("Alpha", "ada"), ("Beta", "bob"), ("Alphabet", "ada")] {
            add(&old, "/jobinfo/add", &job_fields(&group(node), &[("jobDesc", name), ("author", author)])).await;
        }
        let names = |rows: &Value| -> Vec<String> {
            rows.as_array().unwrap().iter().map(|row| row["jobDesc"].as_str().unwrap().to_owned()).collect()
        };
        let group = group(node);
        let all =
            [("jobGroup", &*group), ("triggerStatus", "-1"), ("jobDesc", ""), ("executorHandler", ""), ("author", "")];
        let page = old.post("/jobinfo/pageList", &[&all[..], &[("start", "1"), ("length", "1")]].concat()).await.body;
        assert_eq!(
            (&page["recordsTotal"], &page["recordsFiltered"], names(&page["data"])),
            (&json!(3), &json!(3), vec!["Beta".to_owned()])
        );
        assert!(page["data"][0]["addTime"].as_str().unwrap().ends_with("+00:00"), "{page}");
        let page = new.post("/jobinfo/pageList", &[&all[..], &[("offset", "0"), ("pagesize", "2")]].concat()).await;
        let page = page.payload();
        assert_eq!((&page["offset"], &page["pagesize"], &page["total"]), (&json!(0), &json!(0), &json!(3)));
        assert_eq!(names(&page["data"]), ["Alphabet", "Beta"]);
        assert_eq!(page["data"][0]["addTime"].as_str().unwrap().len(), "2025-10-09 08:53:20".len());
        for (filter, found) in [
            (("jobDesc", "alpha"), vec!["Alphabet", "Alpha"]),
            (("author", "OB"), vec!["Beta"]),
            (("executorHandler", "none"), vec![]),
            (("triggerStatus", "1"), vec![]),
            (("triggerStatus", "0"), vec!["Alphabet", "Beta", "Alpha"]),
        ] {
            let page = new.get(&format!("/jobinfo/pageList?offset=0&pagesize=10&{}={}", filter.0, filter.1)).await;
            assert_eq!(names(&page.payload()["data"]), found, "{filter:?}");
        }
    });
}

#[test]
fn an_update_changes_what_it_carries_and_sends_back_what_was_read_without_a_loss() {
    on_node(async |node| {
        let child = node.job(|_| ()).await;
        let job = node
            .job(|draft| {
                draft.children = vec![child.id];
                draft.description = "kept".into();
                draft.route = RouteStrategy::Weighted;
                draft.schedule = carillon_scheduler::ScheduleDraft::fixed_delay(9);
                draft.misfire = MisfirePolicy::FireAll;
            })
            .await;
        let draft = async || node.store.jobs().get(job.id).await.unwrap().unwrap().draft;
        let before = draft().await;
        for dialect in [C1, C3] {
            let script = Script::admin(node, dialect).await;
            let read = script.post("/jobinfo/pageList", &[("start", "0"), ("length", "10")]).await.body;
            let row = read["data"].as_array().unwrap().iter().find(|row| row["id"] == job.id).unwrap().clone();
            assert_eq!((&row["scheduleType"], &row["executorRouteStrategy"]), (&json!("NONE"), &json!("WEIGHTED")));
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let sent: Vec<(String, String)> =
                row.as_object().unwrap().iter().map(|(n, v)| (n.clone(), text(v))).collect();
            let sent: Vec<(&str, &str)> = sent.iter().map(|(name, value)| (&**name, &**value)).collect();
            assert_eq!(script.post("/jobinfo/update", &sent).await.payload(), &Value::Null);
            assert_eq!(draft().await, before);
            let id = job.id.to_string();
            script.post("/jobinfo/update", &[("id", &id), ("executorParam", dialect.1)]).await.payload();
            assert_eq!(draft().await.params, dialect.1);
            script.post("/jobinfo/update", &[("id", &id), ("executorParam", "")]).await.payload();
            assert_eq!(draft().await, before, "the children stay");
        }
        let script = Script::admin(node, C3).await;
        let id = job.id.to_string();
        let refused =
            script.post("/jobinfo/update", &[("id", &id), ("glueType", "GLUE_SHELL"), ("executorTimeout", "x")]).await;
        assert_eq!(refused.failure(), "glueType: `GLUE_SHELL` is not taken; only BEAN is, a handler of an executor");
        let refused =
            script.post("/jobinfo/update", &[("id", &id), ("scheduleType", "CRON"), ("scheduleConf", "x")]).await;
        assert!(refused.failure().starts_with("scheduleConf: "), "{}", refused.body);
    });
}

#[test]
fn a_job_is_started_stopped_and_removed() {
    on_node(async |node| {
        for (dialect, id_name, remove) in [(C1, "id", "/jobinfo/remove"), (C3, "ids[]", "/jobinfo/delete")] {
            let script = Script::admin(node, dialect).await;
            let id = add(&script, "/jobinfo/add", &job_fields(&group(node), &[])).await;
            let text = id.to_string();
            let enabled = async || node.store.jobs().get(id).await.unwrap().unwrap().draft.enabled;
            assert_eq!(script.post("/jobinfo/start", &[(id_name, &text)]).await.payload(), &Value::Null);
            assert!(enabled().await);
            let read = script.post("/jobinfo/pageList", &[]).await.body;
            assert_eq!(
                (&read["data"][0]["triggerStatus"], read["data"][0]["triggerNextTime"].as_i64() > Some(0)),
                (&json!(1), true)
            );
            script.post("/jobinfo/stop", &[(id_name, &text)]).await.payload();
            assert!(!enabled().await);
            script
                .post("/jobinfo/update", &[("id", &text), ("scheduleType", "NONE"), ("scheduleConf", "")])
                .await
                .payload();
            let refused = script.post("/jobinfo/start", &[(id_name, &text)]).await;
            assert_eq!(refused.failure(), "scheduleType: the job has no schedule, or one that never fires again");
            script.post(remove, &[(id_name, &text)]).await.payload();
            assert!(node.store.jobs().get(id).await.unwrap().is_none());
            assert_eq!(script.post(remove, &[(id_name, &text)]).await.failure(), format!("there is no job {id}"));
        }
        let script = Script::admin(node, C3).await;
        let refused = script.post("/jobinfo/delete", &[("ids[]", "1"), ("ids[]", "2")]).await;
        assert_eq!(refused.failure(), "ids: names several objects; write one");
    });
}

#[test]
fn a_trigger_has_the_jobs_parameters_the_given_ones_or_none() {
    on_node(async |node| {
        let job = node.job(|draft| draft.params = "own".into()).await;
        let id = job.id.to_string();
        for dialect in [C1, C3] {
            let script = Script::admin(node, dialect).await;
            for sent in [&[][..], &[("executorParam", "given"), ("addressList", "")], &[("executorParam", "")]] {
                script.post("/jobinfo/trigger", &[&[("id", &*id)], sent].concat()).await.payload();
            }
        }
        let mut given = vec![];
        for run in node.runs(&job).await {
            given.push(node.store.runs().get(run.id).await.unwrap().unwrap().params);
        }
        given.sort();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(given, [None, None, text(""), text(""), text("given"), text("given")]);
        let script = Script::admin(node, C3).await;
        let refused = script
            .post("/jobinfo/trigger", &[("id", &id), ("addressList", "http://10.0.0.1:1,http://10.0.0.2:1")])
            .await;
        assert_eq!(refused.failure(), "addressList: http://10.0.0.2:1 is not registered for the job's app");
    });
}

#[test]
fn the_next_times_are_those_of_the_zone() {
    with_settings(
        |config| config.report_zone = "Asia/Shanghai".parse().unwrap(),
        async |node| {
            let script = Script::admin(node, C1).await;
            let ask = async |kind: &str, conf: &str| {
                script.post("/jobinfo/nextTriggerTime", &[("scheduleType", kind), ("scheduleConf", conf)]).await
            };
            let times = ask("CRON", "0 0 12 * * ?").await;
            let times = times.payload().as_array().unwrap().clone();
            assert_eq!((times.len(), &times[0]), (5, &json!("2025-10-10 12:00:00")));
            assert_eq!(ask("NONE", "").await.payload(), &json!([]));
            assert_eq!(ask("FIX_RATE", "3600").await.payload().as_array().unwrap().len(), 5);
            assert!(ask("CRON", "0 0 12").await.failure().starts_with("scheduleConf: "));
        },
    );
}

#[test]
fn what_is_left_out_names_what_there_is_instead() {
    on_node(async |node| {
        let script = Script::admin(node, C3).await;
        for (path, instead) in [
            ("/user/pageList", "accounts and their roles are on the page /users"),
            ("/user/updatePwd", "change your password on the page of your account, /account"),
            ("/auth/updatePwd", "change your password on the page of your account, /account"),
            ("/jobcode/save", "a job calls a handler of its executor; its definition is PUT /api/v1/jobs/{id}"),
            ("/joblog/clearLog", "ended runs are deleted by the rules of retention, PUT /api/v1/retention"),
        ] {
            assert_eq!(script.post(path, &[]).await.failure(), format!("{path} is not answered here: {instead}"));
        }
    });
}
