//! Demands 15 to 21: what an executor is sent.

use carillon_scheduler::{BlockStrategy, JobDraft, RetryDelay, RouteStrategy, RunState};
use carillon_store::Actor;
use carillon_store::db::ids;
use serde_json::{Value, json};

use super::published::{Published, accepted, aiohttp_error, json_type};
use crate::flow::node::{Node, on_node};

type Check = fn(&Value) -> bool;

/// In the order of Java's class, with the JSON type that Flask and FastAPI check.
const MEMBERS: [(&str, Check); 12] = [
    ("jobId", is_int),
    ("executorHandler", Value::is_string),
    ("executorParams", Value::is_string),
    ("executorBlockStrategy", Value::is_string),
    ("executorTimeout", is_int),
    ("logId", is_long),
    ("logDateTime", is_long),
    ("glueType", Value::is_string),
    ("glueSource", Value::is_string),
    ("glueUpdatetime", is_long),
    ("broadcastIndex", is_int),
    ("broadcastTotal", is_int),
];

/// Not negative, and below 2³¹: Java reads 32 bits with a sign, xxljob-sdk-rs without one.
fn is_int(value: &Value) -> bool {
    value.as_i64().is_some_and(|number| (0..1 << 31).contains(&number))
}

/// Not negative, and below 2⁵³, which scripts in a browser read.
fn is_long(value: &Value) -> bool {
    value.as_i64().is_some_and(|number| (0..1 << 53).contains(&number))
}

/// Whether a client that knows the twelve members, and no other, takes a run.
fn is_well_formed(run: &Value) -> bool {
    let members = run.as_object().unwrap();
    members.len() == MEMBERS.len() && MEMBERS.iter().all(|(name, is_right)| members.get(*name).is_some_and(is_right))
}

/// As pyxxljob: a member too many is an error of its own.
async fn pyxxljob() -> Published {
    Published::start(|path, body| match path != "/run" || is_well_formed(body) {
        true => json_type(&accepted()),
        false => aiohttp_error(),
    })
    .await
}

/// The runs that the executor was sent.
fn runs(executor: &Published) -> Vec<Value> {
    executor.requests().into_iter().filter(|(path, _)| path == "/run").map(|(_, body)| body).collect()
}

#[test]
fn a_run_has_twelve_members_of_the_right_types_whatever_its_job_says() {
    on_node(async |node| {
        let executor = pyxxljob().await;
        executor.register(node).await;
        let forms: [fn(&mut JobDraft); 6] = [
            |_| (),
            |draft| draft.params = "a \"quoted\" 文\n${run_id}".into(),
            |draft| draft.route = RouteStrategy::Broadcast,
            |draft| draft.timeout_seconds = 86_400,
            |draft| draft.block = BlockStrategy::CoverEarly,
            |draft| draft.retries = 3,
        ];
        for change in forms {
            let job = node.job(change).await;
            let run = node.fire(&job).await;
            node.round().await;
            assert_eq!(node.states(&job).await, [RunState::Running], "{:?}", runs(&executor).last());
            let sent = runs(&executor).pop().unwrap();
            assert_eq!((&sent["jobId"], &sent["executorHandler"]), (&json!(job.id), &json!("handle")));
            assert!(job.draft.route == RouteStrategy::Broadcast || sent["logId"] == run, "{sent}");
        }
        assert_eq!(runs(&executor).len(), forms.len());
    });
}

#[test]
fn a_retry_has_the_same_twelve_members() {
    on_node(async |node| {
        let executor = pyxxljob().await;
        executor.register(node).await;
        let job = node
            .job(|draft| {
                draft.retries = 1;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![1] };
            })
            .await;
        let first = node.fire(&job).await;
        node.round().await;
        node.callback(&[(first, 500, "once more")]).await;
        node.advance(2_000).await;
        node.advance(2_000).await;
        assert_eq!(node.states(&job).await, [RunState::Failed, RunState::Running]);
        let [first, second] = &runs(&executor)[..] else { panic!("two runs") };
        assert_ne!(first["logId"], second["logId"]);
        assert_eq!(first["jobId"], second["jobId"]);
    });
}

#[test]
fn the_largest_ids_reach_an_executor_and_no_larger_ones_are_given() {
    on_node(async |node| {
        const LAST: i64 = 60;
        let (job_id, run_id) = ((1 << 31) - LAST, (1 << 52) - LAST);
        node.sql(&format!("INSERT OR REPLACE INTO id_block (name, next) VALUES ('job', {job_id}), ('run', {run_id})"))
            .await;
        let executor = pyxxljob().await;
        executor.register(node).await;
        let job = node.job(|_| ()).await;
        let run = node.fire(&job).await;
        assert_eq!((job.id, run), (job_id, run_id));
        node.round().await;
        let sent = runs(&executor).pop().unwrap();
        assert_eq!((&sent["jobId"], &sent["logId"]), (&json!(job_id), &json!(run_id)));
        node.callback(&[(run, 200, "done")]).await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded]);
        let refused = node.store.take_ids(&ids::RUN, 2 * LAST as usize).await.unwrap_err();
        assert_eq!(refused.to_string(), format!("no run ids are left below {}", 1_i64 << 52));
        let refused = node.store.take_ids(&ids::JOB, 2 * LAST as usize).await.unwrap_err();
        assert_eq!(refused.to_string(), format!("no job ids are left below {}", 1_i64 << 31));
    });
}

#[test]
fn the_block_strategy_is_one_of_three_words_and_a_run_without_sharding_is_the_first_part_of_one() {
    on_node(async |node| {
        let executor = pyxxljob().await;
        executor.register(node).await;
        for (block, word) in [
            (BlockStrategy::Serial, "SERIAL_EXECUTION"),
            (BlockStrategy::DiscardLater, "DISCARD_LATER"),
            (BlockStrategy::CoverEarly, "COVER_EARLY"),
        ] {
            let job = node.job(|draft| draft.block = block).await;
            node.fire(&job).await;
            node.round().await;
            let sent = runs(&executor).pop().unwrap();
            assert_eq!(sent["executorBlockStrategy"], word);
            assert_eq!((&sent["broadcastIndex"], &sent["broadcastTotal"]), (&json!(0), &json!(1)));
        }
    });
}

/// Starts a run at an instant, 300 ms after it was due; then time goes on.
async fn late_run(node: &Node) -> i64 {
    let job = node.every(1, |_| ()).await;
    node.round().await;
    node.advance(1_300).await;
    node.advance(500).await;
    node.runs(&job).await[0].id
}

#[test]
fn a_log_is_asked_for_by_the_instant_of_its_run_under_both_names() {
    on_node(async |node| {
        let executor = pyxxljob().await;
        executor.register(node).await;
        let run = late_run(node).await;
        let sent = runs(&executor).into_iter().find(|sent| sent["logId"] == run).unwrap();
        for from in [1, 7] {
            let _ = node.engine.runs().log(run, from, &Actor::engine()).await;
            let (path, asked) = executor.requests().pop().unwrap();
            let instant = &sent["logDateTime"];
            let expected = json!({"logId": run, "logDateTim": instant, "logDateTime": instant, "fromLineNum": from});
            assert_eq!((path.as_str(), asked), ("/log", expected));
        }
    });
}

#[test]
fn kill_and_idle_beat_name_the_job_beat_says_nothing_and_each_request_has_the_token() {
    on_node(async |node| {
        let executor = pyxxljob().await;
        executor.register(node).await;
        let mut jobs = vec![];
        for route in [RouteStrategy::Failover, RouteStrategy::BusyOver] {
            let job = node.job(|draft| draft.route = route).await;
            let run = node.fire(&job).await;
            node.round().await;
            let _ = node.engine.runs().log(run, 1, &Actor::engine()).await;
            node.engine.runs().kill(run, &Actor::engine()).await.unwrap();
            jobs.push(job.id);
        }
        let all = executor.requests();
        let bodies = |path: &str| -> Vec<Value> {
            all.iter().filter(|(of, _)| of == path).map(|(_, body)| body.clone()).collect()
        };
        assert_eq!(bodies("/beat"), [json!({})]);
        assert_eq!(bodies("/idleBeat"), [json!({"jobId": jobs[1]})]);
        assert_eq!(bodies("/kill"), [json!({"jobId": jobs[0]}), json!({"jobId": jobs[1]})]);
        assert_eq!((bodies("/run").len(), bodies("/log").len()), (2, 2));
        let token = Some(node.config.access_token.clone());
        assert_eq!(executor.headers("XXL-JOB-ACCESS-TOKEN"), vec![token; all.len()]);
    });
}
