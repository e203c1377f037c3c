//! Jobs that run after others.

use carillon_scheduler::{Cause, RetryDelay, RouteStrategy, RunState};
use carillon_testkit::RecordingExecutor;

use crate::flow::node::with_registered_executor;

/// What the last request to the executor had as parameters.
fn params(executor: &RecordingExecutor) -> String {
    let last = executor.runs().pop().unwrap();
    last.json()["executorParams"].as_str().unwrap().to_owned()
}

// covers: 004-9
#[test]
fn a_child_runs_once_after_its_parent_with_its_result() {
    with_registered_executor(async |node, executor| {
        let child = node.job(|draft| draft.enabled = false).await;
        let parent = node.job(|draft| draft.children = vec![child.id]).await;
        let run_id = node.fire(&parent).await;
        node.round().await;
        node.callback(&[(run_id, 200, "42 orders")]).await;
        // The executor repeats it, as one whose first answer was lost.
        node.callback(&[(run_id, 200, "42 orders")]).await;
        node.round().await;
        let runs = node.runs(&child).await;
        assert_eq!(runs.len(), 1, "a disabled job is a child all the same");
        assert_eq!((runs[0].cause, runs[0].fire_no, runs[0].state), (Cause::Child, run_id, RunState::Running));
        assert_eq!(params(executor), "42 orders");
    });
}

// covers: 004-10
#[test]
fn after_a_failure_no_child_runs_and_the_parents_retry_bears_it() {
    with_registered_executor(async |node, executor| {
        let child = node.job(|draft| draft.params = "its own".into()).await;
        let parent = node
            .job(|draft| {
                draft.children = vec![child.id];
                draft.retries = 1;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![3] };
            })
            .await;
        let first = node.fire(&parent).await;
        node.round().await;
        node.callback(&[(first, 500, "no")]).await;
        assert_eq!(node.runs(&child).await.len(), 0);
        node.advance(3_100).await;
        let second = node.runs(&parent).await[1].id;
        assert_ne!(first, second);
        node.callback(&[(second, 200, "yes")]).await;
        node.round().await;
        let born = node.runs(&child).await;
        assert_eq!((born.len(), born[0].fire_no), (1, first), "known by the first run of the parent's fire");
        assert_eq!(params(executor), "its own");
        // The first attempt had run well after all: the child is there already.
        node.sql(&format!("UPDATE run SET state = 4 WHERE id = {first}")).await;
        node.callback(&[(first, 200, "late")]).await;
        assert_eq!(node.runs(&child).await.len(), 1);
    });
}

#[test]
fn evidence_that_a_lost_parent_has_run_bears_its_child() {
    with_registered_executor(async |node, _| {
        let child = node.job(|_| ()).await;
        let parent = node.job(|draft| draft.children = vec![child.id]).await;
        let run_id = node.fire(&parent).await;
        node.round().await;
        node.sql(&format!("UPDATE run SET state = 4 WHERE id = {run_id}")).await;
        node.callback(&[(run_id, 200, "late")]).await;
        assert_eq!(node.states(&parent).await, [RunState::Succeeded]);
        assert_eq!(node.runs(&child).await.len(), 1);
    });
}

#[test]
fn a_broadcast_bears_its_child_when_all_parts_have_succeeded_by_any_attempt() {
    with_registered_executor(async |node, first| {
        let second = RecordingExecutor::start().await;
        node.register(&second).await;
        let child = node.job(|_| ()).await;
        let parent = node
            .job(|draft| {
                draft.route = RouteStrategy::Broadcast;
                draft.children = vec![child.id];
                draft.retries = 1;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![0] };
            })
            .await;
        let run_id = node.fire(&parent).await;
        node.round().await;
        let parts = node.runs(&parent).await;
        assert_eq!(parts.len(), 2);
        node.callback(&[(parts[0].id, 200, "one"), (parts[1].id, 500, "")]).await;
        node.advance(100).await;
        assert_eq!(node.runs(&child).await.len(), 0);
        let again = &node.runs(&parent).await[2];
        assert_eq!((again.part, again.attempt), (1, 2), "the failed part alone");
        assert_eq!((again.address.as_ref(), again.parts), (parts[1].address.as_ref(), 2));
        node.callback(&[(again.id, 200, "two")]).await;
        node.round().await;
        let born = node.runs(&child).await;
        assert_eq!((born.len(), born[0].fire_no), (1, run_id));
        let told = first.runs().into_iter().chain(second.runs());
        let of_child = told.filter(|run| run.run_id() == born[0].id);
        let given: Vec<_> = of_child.map(|run| run.json()["executorParams"].clone()).collect();
        assert_eq!(given, [r#"["one","two"]"#]);
    });
}

#[test]
fn children_that_were_named_while_the_parent_ran_run_too() {
    with_registered_executor(async |node, _| {
        let child = node.job(|_| ()).await;
        let parent = node.job(|_| ()).await;
        let run_id = node.fire(&parent).await;
        node.round().await;
        let mut draft = parent.draft.clone();
        draft.children = vec![child.id];
        let parent = node.edit(&parent, draft).await;
        assert_eq!(parent.draft.children, [child.id]);
        node.callback(&[(run_id, 200, "")]).await;
        let born = node.runs(&child).await;
        assert_eq!(born.len(), 1);
        assert_eq!(born[0].params, None, "nothing to hand on");
        // And a grandchild, borne by the child.
        let grandchild = node.job(|_| ()).await;
        let mut draft = node.store.jobs().get(child.id).await.unwrap().unwrap().draft;
        draft.children = vec![grandchild.id];
        node.edit(&child, draft).await;
        node.round().await;
        node.callback(&[(born[0].id, 200, "")]).await;
        assert_eq!(node.runs(&grandchild).await.len(), 1);
    });
}
