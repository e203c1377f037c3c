//! Executors that get no new runs, those whose address was entered, those that were removed, and those of a renamed app.

use carillon_engine::manage::{Error, RunRequest};
use carillon_engine::runtime::Service as _;
use carillon_scheduler::{Cause, RouteStrategy, RunState};
use carillon_testkit::RecordingExecutor;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, on_node, with_executor, with_registered_executor};
use crate::flow::recover::lost::advance_seconds;

async fn drain(node: &Node, executor: &RecordingExecutor, is_draining: bool) {
    let executors = node.engine.executors();
    let set = executors.set_draining(node.app.id, &executor.address, is_draining, &actor()).await.unwrap();
    assert_eq!(set.is_draining(), is_draining);
    node.services.refresher.step().await;
}

#[test]
fn a_draining_executor_gets_no_new_runs_until_it_is_undone() {
    with_registered_executor(async |node, one| {
        let other = RecordingExecutor::start().await;
        node.register_own(&other, "boot-1").await;
        node.every(1, |_| ()).await;
        for _ in 0..4 {
            node.advance(1_000).await;
        }
        assert!(one.runs().len() >= 2 && other.runs().len() >= 2, "they take turns");
        let running = other.runs()[0].run_id();
        drain(node, &other, true).await;
        // Neither a heartbeat nor a new start undoes it.
        node.register_own(&other, "boot-1").await;
        node.register_own(&other, "boot-2").await;
        let (of_one, of_other) = (one.runs().len(), other.runs().len());
        for _ in 0..4 {
            node.advance(1_000).await;
        }
        assert_eq!((one.runs().len(), other.runs().len()), (of_one + 4, of_other));
        node.callback(&[(running, 200, "done")]).await;
        assert_eq!(
            node.store.runs().get(running).await.unwrap().unwrap().state,
            RunState::Succeeded,
            "what it has ends there"
        );
        drain(node, &other, false).await;
        for _ in 0..4 {
            node.advance(1_000).await;
        }
        assert!(other.runs().len() > of_other);
    });
}

#[test]
fn a_broadcast_leaves_a_draining_executor_out() {
    with_registered_executor(async |node, one| {
        let other = RecordingExecutor::start().await;
        node.register(&other).await;
        drain(node, &other, true).await;
        let job = node.job(|draft| draft.route = RouteStrategy::Broadcast).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!((one.runs().len(), other.runs().len()), (1, 0));
    });
}

#[test]
fn runs_that_find_only_draining_executors_say_so() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        drain(node, executor, true).await;
        let address = Some(executor.address.clone());
        let ask = RunRequest {
            parts: None,
            job_id: job.id,
            cause: Cause::Manual,
            params: None,
            priority: None,
            address,
            idempotency_key: None,
        };
        let refused = node.engine.jobs().run(ask, &actor()).await;
        assert!(
            matches!(&refused, Err(Error::Invalid(wrong)) if wrong[0].message.contains("is draining")),
            "{refused:?}"
        );
        node.fire(&job).await;
        for _ in 0..5 {
            node.advance(1_000).await;
        }
        let run = node.runs(&job).await.remove(0);
        assert_eq!((run.state, run.reason.as_deref()), (RunState::Failed, Some("no_executor")));
        assert!(run.message().contains("all executors of app orders are draining"), "{}", run.message());
    });
}

// covers: S21
#[test]
fn an_address_that_was_entered_gets_runs_without_a_heartbeat() {
    with_executor(async |node, executor| {
        let entered = node.engine.executors().enter(node.app.id, &executor.address, &actor()).await.unwrap();
        assert!(entered.manual_since.is_some());
        node.services.refresher.step().await;
        let job = node.every(1, |_| ()).await;
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), 1);
        // Long after the lease of one that registers.
        advance_seconds(node, 120).await;
        assert!(executor.runs().len() > 100);
        // The first ones are asked about by then, as anywhere; none is lost with a lease.
        assert!(!node.states(&job).await.contains(&RunState::Lost));
        // One that registers beside it takes its share, and its end takes nothing away.
        let other = RecordingExecutor::start().await;
        node.register(&other).await;
        node.advance(1_000).await;
        node.advance(1_000).await;
        assert!(!other.runs().is_empty());
        node.engine.executors().deregister("orders", &executor.address, None).await.unwrap();
        node.services.refresher.step().await;
        let before = executor.runs().len();
        node.advance(1_000).await;
        node.advance(1_000).await;
        assert!(executor.runs().len() > before);
    });
}

// covers: S19, S21
#[test]
fn an_address_that_may_not_be_called_cannot_be_entered() {
    on_node(async |node| {
        for (address, what) in [
            ("http://169.254.169.254/", "must be http(s)://host:port"),
            ("ftp://10.0.0.1/", "neither http nor https"),
            ("http://10.0.0.1:9999/?a=1", "a query"),
            ("", "no URL"),
        ] {
            let refused = node.engine.executors().enter(node.app.id, address, &actor()).await;
            let Err(Error::Invalid(wrong)) = &refused else { panic!("{address}: {refused:?}") };
            assert!(wrong[0].field == "address" && wrong[0].message.contains(what), "{address}: {wrong:?}");
        }
    });
}

#[test]
fn the_runs_of_a_removed_executor_are_lost_and_it_may_register_again() {
    with_registered_executor(async |node, executor| {
        let job = node.job(|_| ()).await;
        let run_id = node.fire(&job).await;
        node.round().await;
        node.engine.executors().remove(node.app.id, &executor.address, &actor()).await.unwrap();
        node.services.refresher.step().await;
        advance_seconds(node, 75).await;
        assert_eq!(node.store.runs().get(run_id).await.unwrap().unwrap().state, RunState::Lost);
        node.register(executor).await;
        node.fire(&job).await;
        node.round().await;
        assert_eq!(executor.runs().len(), 2);
        let missing = node.engine.executors().remove(node.app.id, "http://elsewhere/", &actor()).await;
        assert!(matches!(missing, Err(Error::Invalid(_))), "{missing:?}");
    });
}

#[test]
fn the_executors_of_a_renamed_app_get_its_runs_under_both_names() {
    with_registered_executor(async |node, executor| {
        node.every(1, |_| ()).await;
        node.advance(1_000).await;
        node.advance(1_000).await;
        let sent = executor.runs().len();
        let apps = node.engine.apps();
        apps.update(node.app.id, Some("sales"), None, &actor()).await.unwrap();
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), sent + 1);
        // Its heartbeats still have the old name.
        advance_seconds(node, 60).await;
        node.register(executor).await;
        advance_seconds(node, 60).await;
        node.register(executor).await;
        let registered = node.store.apps().executors().await.unwrap();
        assert_eq!(registered.iter().map(|it| it.app.as_str()).collect::<Vec<_>>(), ["sales"]);
        assert!(executor.runs().len() >= sent + 118, "{}", executor.runs().len());
        apps.remove_name(node.app.id, "orders", &actor()).await.unwrap();
        let before = executor.runs().len();
        node.advance(1_000).await;
        assert_eq!(executor.runs().len(), before + 1, "no definition holds the old name any more");
        node.register(executor).await;
        let registered = node.store.apps().executors().await.unwrap();
        assert_eq!(registered.iter().map(|it| it.app.as_str()).collect::<Vec<_>>(), ["orders", "sales"]);
    });
}
