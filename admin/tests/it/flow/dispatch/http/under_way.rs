//! Requests that take long: they hold up no others, can be ended, and are not sent again after the loss of their node.

use std::time::Duration;

use carillon_admin::config::Config;
use carillon_engine::manage::KillResult;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Clock as _, HttpAuth, RunState};
use carillon_testkit::wait_for;
use sea_orm::{ConnectionTrait as _, Statement, TransactionTrait as _};

use super::service::{Reply, Service, answer};
use super::{allow_loopback, closed_address, fired, job, run_of, with_config, with_database, with_node};
use crate::conformance::fixture::actor;
use crate::flow::node::Node;
use crate::services::Kind;

/// The service has as many requests.
pub async fn is_called(service: &Service, count: usize) {
    wait_for("the service has the request", async || service.received().len() >= count).await;
}

pub async fn begin(node: &Node, job: &carillon_store::Job) {
    node.fire(job).await;
    node.renew_leases().await;
    node.scan().await;
    node.dispatch().await;
}

// covers: 001-44
#[test]
fn a_service_that_hangs_holds_up_no_other_and_ends_as_unknown() {
    with_node(async |node| {
        let (hangs, answers) = (Service::start(Reply::Silence).await, Service::start(answer(200, "", "")).await);
        let slow = job(node, &hangs.url, |_, request| request.timeout_seconds = 1).await;
        let quick = job(node, &answers.url, |_, _| {}).await;
        begin(node, &slow).await;
        is_called(&hangs, 1).await;
        begin(node, &quick).await;
        wait_for("the other run has ended", async || {
            node.services.completer.step().await;
            node.states(&quick).await == [RunState::Succeeded]
        })
        .await;
        assert_eq!(node.states(&slow).await, [RunState::Sending]);
        node.drain().await;
        let run = run_of(node, &slow).await;
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Unknown, Some("unknown")));
        assert_eq!(run.message(), "no answer in time");
        let log = node.engine.runs().log(run.id, 1, &actor()).await.unwrap();
        assert!(log.content.ends_with("\nno answer: no answer in time\n"), "{}", log.content);
    });
}

// covers: 001-44
#[test]
fn a_run_that_waits_for_its_turn_goes_back_and_is_never_unknown() {
    let change = |config: &mut Config| {
        allow_loopback(config);
        (config.engine.in_flight, config.engine.request_timeout) = (1, Duration::from_millis(1_500));
    };
    with_config(change, async |node| {
        let service = Service::start(Reply::Silence).await;
        let first = job(node, &service.url, |_, request| request.timeout_seconds = 60).await;
        begin(node, &first).await;
        is_called(&service, 1).await;
        let second = job(node, &service.url, |draft, _| draft.misfire_threshold_seconds = 30).await;
        begin(node, &second).await;
        assert_eq!(node.states(&second).await, [RunState::Sending]);
        wait_for("the run is back", async || {
            node.services.unmarker.step().await;
            node.states(&second).await == [RunState::Claimed]
        })
        .await;
        // Nothing moves there, so it is not marked again.
        node.clock.advance(Duration::from_secs(1));
        assert_eq!(node.dispatch().await.did.waiting, 1);
        node.resolve_later().await;
        node.services.completer.step().await;
        assert_eq!(node.states(&second).await, [RunState::Claimed]);
        node.clock.advance(Duration::from_secs(40));
        node.renew_leases().await;
        node.scan().await;
        assert_eq!(node.dispatch().await.did.failed, 1);
        node.services.completer.step().await;
        let run = run_of(node, &second).await;
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        assert!(run.message().contains("is busy: too many requests"), "{}", run.message());
        assert_eq!(service.received().len(), 1);
    });
}

// covers: 001-44
#[test]
fn a_request_that_is_not_ready_in_time_is_not_sent() {
    with_database(Kind::Postgres, allow_loopback, async |node, db| {
        let service = Service::start(answer(200, "", "")).await;
        node.engine.app_secrets().set(node.app.id, "KEY", "s3cret-word", &actor()).await.unwrap();
        let job = job(node, &service.url, |_, request| request.auth = Some(HttpAuth::Bearer("KEY".into()))).await;
        let outside = sea_orm::Database::connect(db.direct_url()).await.unwrap();
        let transaction = outside.begin().await.unwrap();
        transaction.execute_unprepared("LOCK TABLE secret IN ACCESS EXCLUSIVE MODE").await.unwrap();
        begin(node, &job).await;
        wait_for("its secrets are being read", async || {
            let text =
                "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
            let asked = Statement::from_string(sea_orm::DbBackend::Postgres, text);
            let row = outside.query_one_raw(asked).await.unwrap().unwrap();
            row.try_get_by_index::<i64>(0).unwrap() > 0
        })
        .await;
        node.clock.advance(Duration::from_secs(4));
        transaction.commit().await.unwrap();
        node.drain().await;
        assert_eq!(node.states(&job).await, [RunState::Claimed]);
        assert!(service.received().is_empty());
        node.advance(1_000).await;
        assert_eq!(node.states(&job).await, [RunState::Succeeded]);
    });
}

// covers: 001-44
#[test]
fn a_service_that_is_gone_holds_up_no_run_of_an_executor_of_its_app() {
    with_node(async |node| {
        let executor = carillon_testkit::RecordingExecutor::start().await;
        node.register(&executor).await;
        let gone = job(node, &format!("http://{}/", closed_address()), |_, _| {}).await;
        // Its connection is refused, so the next ticks leave the service alone.
        assert_eq!(fired(node, &gone).await.state, RunState::Claimed);
        node.clock.advance(Duration::from_secs(2));
        let other = node.job(|_| ()).await;
        node.fire(&other).await;
        node.renew_leases().await;
        node.scan().await;
        let report = node.dispatch().await.did;
        assert_eq!((report.due, report.waiting, report.sent), (2, 1, 1), "in one tick, the run that waits first");
        node.drain().await;
        assert_eq!(executor.runs().len(), 1);
        assert_eq!(node.states(&gone).await, [RunState::Claimed]);
    });
}

// covers: 001-44
#[test]
fn jobs_of_one_origin_share_its_breaker() {
    with_node(async |node| {
        let gone = closed_address();
        let first = job(node, &format!("http://{gone}/a"), |_, _| {}).await;
        assert_eq!(fired(node, &first).await.state, RunState::Claimed);
        let second = job(node, &format!("http://{gone}/b?c"), |_, _| {}).await;
        node.fire(&second).await;
        node.scan().await;
        let report = node.dispatch().await.did;
        assert!(report.due > 0 && report.sent == 0, "nothing is sent there for a while: {report:?}");
        assert_eq!(node.states(&second).await, [RunState::Claimed]);
    });
}

// covers: 001-44
#[test]
fn after_the_pause_of_a_service_the_run_that_has_waited_longest_is_the_trial() {
    with_node(async |node| {
        let service = Service::start(Reply::Cut).await;
        let at = |path: &str| service.url.replace("/hook", path);
        let (cut, old, young) = (at("/cut"), at("/old"), at("/young"));
        let [cut, old, young] =
            [job(node, &cut, |_, _| {}).await, job(node, &old, |_, _| {}).await, job(node, &young, |_, _| {}).await];
        for count in 1..=3 {
            begin(node, &cut).await;
            wait_for("the request has no answer", async || {
                node.services.completer.step().await;
                node.states(&cut).await == vec![RunState::Unknown; count]
            })
            .await;
        }
        service.reply(answer(200, "", ""));
        begin(node, &old).await;
        for _ in 0..5 {
            node.clock.advance(Duration::from_millis(1_990));
            node.renew_leases().await;
            assert_eq!(
                node.dispatch().await.did.waiting,
                1,
                "it comes back 300 ms later, and the other one comes before"
            );
        }
        node.clock.advance(Duration::from_millis(52));
        node.fire(&young).await;
        node.scan().await;
        let report = node.dispatch().await.did;
        assert_eq!((report.due, report.waiting, report.sent), (1, 1, 0), "the pause is over, and another run is first");
        node.advance(300).await;
        node.advance(300).await;
        let received = service.received();
        let paths: Vec<_> = received[3..].iter().filter_map(|request| request.split(' ').nth(1)).collect();
        assert_eq!(paths, ["/old", "/young"]);
    });
}

// covers: 001-44
#[test]
fn a_request_under_way_is_ended_by_a_kill() {
    with_node(async |node| {
        let service = Service::start(Reply::Silence).await;
        let job = job(node, &service.url, |_, _| {}).await;
        begin(node, &job).await;
        is_called(&service, 1).await;
        let run = run_of(node, &job).await;
        assert_eq!(node.engine.runs().kill(run.id, &actor()).await.unwrap(), KillResult::Asked);
        node.drain().await;
        assert_eq!(run_of(node, &job).await.state, RunState::Killed);
    });
}

// covers: 001-44
#[test]
fn a_node_that_is_killed_before_the_answer_leaves_one_receipt() {
    with_node(async |node| {
        let service = Service::start(Reply::Silence).await;
        let job = job(node, &service.url, |_, request| request.timeout_seconds = 60).await;
        begin(node, &job).await;
        is_called(&service, 1).await;
        let next = Node::restarted(node, node.config.clone(), node.clock.now() + 15_000).await;
        next.round().await;
        next.resolve_later().await;
        next.drain().await;
        assert_eq!(next.states(&job).await, [RunState::Sending], "the answer may still come to the other node");
        next.clock.advance(Duration::from_secs(60));
        next.resolve_later().await;
        next.drain().await;
        let run = run_of(&next, &job).await;
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Unknown, Some("unknown")));
        assert_eq!(run.message(), "sent, and the node that sent it has not stored an answer");
        assert_eq!(service.received().len(), 1);
    });
}

// covers: 001-44
#[test]
fn a_node_that_stops_ends_its_requests_without_an_answer() {
    with_node(async |node| {
        let service = Service::start(Reply::Silence).await;
        let job = job(node, &service.url, |_, _| {}).await;
        begin(node, &job).await;
        is_called(&service, 1).await;
        node.engine.finish_sends().await;
        node.drain().await;
        let run = run_of(node, &job).await;
        assert_eq!((run.state, &*run.message()), (RunState::Unknown, "the node ended before the answer came"));
    });
}
