//! Static parts: a fire is split into runs, and each goes its own way.

use carillon_engine::manage::{BulkRequest, RunAction, RunRequest, Selection};
use carillon_scheduler::RunState::{Cancelled, Claimed, Failed, Lost, Running, Succeeded};
use carillon_scheduler::{Cause, JobDraft, Overlap, Parts, RetryDelay, RouteStrategy, ScheduleDraft};
use carillon_store::Job;
use carillon_testkit::RecordingExecutor;

use super::routes::counts;
use crate::conformance::fixture::actor;
use crate::flow::node::Node;
use crate::flow::recover::lost::advance_seconds;
use crate::services::{Kind, on};

fn each(texts: &[&str]) -> Parts {
    Parts::Each(texts.iter().map(|&text| text.to_owned()).collect())
}

/// Two executors, and a job with these parts.
fn flow(parts: Parts, test: impl AsyncFnOnce(&Node, &[RecordingExecutor; 2], &Job)) {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let executors = [RecordingExecutor::start().await, RecordingExecutor::start().await];
        for executor in &executors {
            node.register_own(executor, "boot").await;
        }
        let job = node.job(|draft| draft.parts = parts).await;
        test(&node, &executors, &job).await;
    });
}

async fn edit(node: &Node, job: &Job, change: impl FnOnce(&mut JobDraft)) -> Job {
    let mut draft = job.draft.clone();
    change(&mut draft);
    node.edit(job, draft).await
}

/// Index, total and parameters of all requests, in the order of their indices.
fn received(executors: &[RecordingExecutor]) -> Vec<(u64, u64, String)> {
    let told = executors.iter().flat_map(RecordingExecutor::runs).map(|run| {
        let body = run.json();
        let number = |name: &str| body[name].as_u64().unwrap();
        let params = body["executorParams"].as_str().unwrap().to_owned();
        (number("broadcastIndex"), number("broadcastTotal"), params)
    });
    let mut all: Vec<_> = told.collect();
    all.sort();
    all
}

fn parts_of(texts: &[&str]) -> Vec<(u64, u64, String)> {
    (0..).zip(texts).map(|(index, &text)| (index, texts.len() as u64, text.to_owned())).collect()
}

#[test]
fn sixteen_parts_go_to_two_executors_each_once() {
    flow(Parts::Count(16), async |node, executors, job| {
        let job = edit(node, job, |draft| draft.params = "{{part}} of {{parts}}".into()).await;
        node.fire(&job).await;
        node.round().await;
        let texts: Vec<String> = (0..16).map(|part| format!("{part} of 16")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert_eq!(received(executors), parts_of(&texts));
        assert_eq!(counts(executors), [8, 8], "each part by the route of the job");
        let runs = node.runs(&job).await;
        assert_eq!((runs.len(), runs.iter().all(|run| run.state == Running)), (16, true));
        let keys = executors.iter().flat_map(RecordingExecutor::runs);
        let mut keys: Vec<String> = keys.map(|run| run.header("Carillon-Fire-Key").unwrap().to_owned()).collect();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 16, "each part has a key of its own");
    });
}

#[test]
fn each_part_of_a_fire_of_the_schedule_gets_its_text() {
    flow(each(&["eu", "us {{part}}", ""]), async |node, executors, job| {
        edit(node, job, |draft| draft.schedule = ScheduleDraft::cron("0/10 * * * * ?", "UTC")).await;
        node.advance(10_000).await;
        node.round().await;
        assert_eq!(received(executors), parts_of(&["eu", "us 1", ""]));
        assert!(node.runs(job).await.iter().all(|run| run.cause == Cause::Schedule));
    });
}

// covers: 004-21
#[test]
fn the_part_of_an_executor_that_was_killed_runs_again_alone_with_its_text() {
    flow(each(&["a", "b", "c", "d"]), async |node, executors, job| {
        let job = edit(node, job, |draft| {
            (draft.retries, draft.retry_delay) = (1, RetryDelay::Fixed { seconds: vec![0] });
        })
        .await;
        node.fire(&job).await;
        node.round().await;
        let runs = node.runs(&job).await;
        let (killed, left) = match runs[3].address.as_deref() == Some(&executors[0].address) {
            true => (&executors[0], &executors[1]),
            false => (&executors[1], &executors[0]),
        };
        let others: Vec<_> = runs[..3].iter().map(|run| (run.id, 200, "")).collect();
        node.callback(&others).await;
        let before = counts(executors).into_iter().sum::<usize>();
        killed.die().await;
        for _ in 0..8 {
            node.register_own(left, "boot").await;
            advance_seconds(node, 12).await;
        }
        let runs = node.runs(&job).await;
        let states: Vec<_> = runs.iter().map(|run| (run.part, run.attempt, run.state)).collect();
        let done = |part| (part, 1, Succeeded);
        assert_eq!(states, [done(0), done(1), done(2), (3, 1, Lost), (3, 2, Running)]);
        assert_eq!(counts(executors).into_iter().sum::<usize>(), before + 1);
        let again = left.runs().pop().unwrap();
        let body = again.json();
        assert_eq!((body["broadcastIndex"].as_u64(), body["broadcastTotal"].as_u64()), (Some(3), Some(4)));
        assert_eq!((body["executorParams"].as_str(), again.header("Carillon-Attempt")), (Some("d"), Some("2")));
    });
}

#[test]
fn parts_that_found_no_executor_are_tried_again_as_parts() {
    on(Kind::Sqlite, async |_| {
        let node = Node::start().await;
        let job = node
            .job(|draft| {
                draft.parts = each(&["eu", "us"]);
                (draft.retries, draft.retry_delay) = (1, RetryDelay::Fixed { seconds: vec![60] });
            })
            .await;
        node.fire(&job).await;
        node.round().await;
        for _ in 0..40 {
            if node.states(&job).await.len() < 4 {
                node.advance(3_000).await;
            }
        }
        assert_eq!(node.states(&job).await, [Failed, Claimed, Failed, Claimed]);
        let executors = [RecordingExecutor::start().await];
        for _ in 0..21 {
            node.register(&executors[0]).await;
            node.advance(3_000).await;
        }
        assert_eq!(received(&executors), parts_of(&["eu", "us"]));
    });
}

#[test]
fn parts_of_one_fire_do_not_overlap_each_other_and_fires_do() {
    flow(Parts::Count(4), async |node, executors, job| {
        let job = edit(node, job, |draft| {
            draft.overlap = Overlap::Skip;
            draft.schedule = ScheduleDraft::cron("0/10 * * * * ?", "UTC");
        })
        .await;
        node.advance(10_000).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [Running; 4]);
        let runs = node.runs(&job).await;
        let three: Vec<_> = runs[..3].iter().map(|run| (run.id, 200, "")).collect();
        node.callback(&three).await;
        node.advance(10_000).await;
        node.round().await;
        assert_eq!(
            node.states(&job).await,
            [Succeeded, Succeeded, Succeeded, Running, Cancelled],
            "one run, not split"
        );
        node.callback(&[(runs[3].id, 200, "")]).await;
        node.advance(10_000).await;
        node.round().await;
        assert_eq!(node.states(&job).await[5..], [Running; 4]);
        assert_eq!(counts(executors).into_iter().sum::<usize>(), 8);
    });
}

// covers: 004-9
#[test]
fn the_child_runs_once_after_all_parts_with_their_results() {
    flow(each(&["a", "b", "c"]), async |node, executors, job| {
        let child = node.job(|_| ()).await;
        let job = edit(node, job, |draft| draft.children = vec![child.id]).await;
        let first = node.fire(&job).await;
        node.round().await;
        let runs = node.runs(&job).await;
        node.callback(&[(runs[2].id, 200, "three"), (runs[0].id, 200, "one")]).await;
        node.round().await;
        assert_eq!(node.runs(&child).await.len(), 0);
        node.callback(&[(runs[1].id, 200, "two")]).await;
        node.round().await;
        let born = node.runs(&child).await;
        assert_eq!((born.len(), born[0].fire_no), (1, first));
        let told = executors.iter().flat_map(RecordingExecutor::runs).find(|run| run.run_id() == born[0].id);
        assert_eq!(told.unwrap().json()["executorParams"], r#"["one","two","three"]"#);
    });
}

#[test]
fn a_fixed_delay_is_counted_from_the_end_of_the_last_part() {
    flow(Parts::Count(3), async |node, _, job| {
        let delay =
            ScheduleDraft { kind: carillon_scheduler::KindDraft::FixedDelay { seconds: 30 }, ..ScheduleDraft::none() };
        let job = edit(node, job, |draft| draft.schedule = delay).await;
        node.advance(31_000).await;
        node.round().await;
        let runs = node.runs(&job).await;
        assert_eq!(runs.len(), 3);
        node.callback(&[(runs[0].id, 200, ""), (runs[1].id, 500, "")]).await;
        node.advance(60_000).await;
        node.round().await;
        assert_eq!(node.runs(&job).await.len(), 3, "a part is still at work");
        node.callback(&[(runs[2].id, 200, "")]).await;
        node.advance(31_000).await;
        node.round().await;
        assert_eq!(node.runs(&job).await.len(), 6);
    });
}

#[test]
fn a_list_given_with_a_fire_is_for_that_fire_alone_and_its_rerun_repeats_it() {
    flow(Parts::default(), async |node, executors, job| {
        let ask = RunRequest {
            job_id: job.id,
            cause: Cause::Api,
            params: None,
            parts: Some(each(&["x {{scheduled_at|ms}}", "y"])),
            priority: None,
            address: None,
            idempotency_key: None,
        };
        node.engine.jobs().run(ask, &actor()).await.unwrap();
        node.round().await;
        let runs = node.runs(job).await;
        let at = runs[0].scheduled_at;
        let texts = [format!("x {at}"), "y".to_owned()];
        let texts = [texts[0].as_str(), texts[1].as_str()];
        assert_eq!(received(executors), parts_of(&texts));
        node.callback(&[(runs[0].id, 200, ""), (runs[1].id, 500, "")]).await;
        node.advance(10_000).await;
        let action = RunAction::Rerun { cause: Cause::Manual, repeated: false };
        let selection = Selection::Ids(vec![runs[1].id]);
        let request = BulkRequest { selection: &selection, action, expected: None, idempotency_key: None };
        assert_eq!(node.engine.do_with_all(request, &actor()).await.unwrap().done, 1);
        node.round().await;
        let mut both = [parts_of(&texts), parts_of(&texts)].concat();
        both.sort();
        assert_eq!(received(executors), both, "the whole fire again, for its instant");
        let plain = node.fire(job).await;
        node.round().await;
        assert_eq!(node.store.runs().get(plain).await.unwrap().unwrap().parts, 1, "the job itself is not split");
    });
}

#[test]
fn a_request_for_parts_that_cannot_be_is_refused() {
    flow(each(&["eu", "us"]), async |node, _, job| {
        let broadcast = node.job(|draft| draft.route = RouteStrategy::Broadcast).await;
        let params = Some("p".to_owned());
        for (job_id, parts, params, why) in [
            (job.id, Parts::Count(0), None, "0 is not allowed; 1 to 1000"),
            (job.id, each(&["x"]), None, "has 1 texts; a list has 2 to 1000"),
            (
                job.id,
                each(&["x", "y"]),
                params.clone(),
                "is a list, so `params` must be left out: each part gets its own text",
            ),
            (
                job.id,
                Parts::Count(3),
                None,
                "the job lists the parameters of its parts; give a list, or a number and `params` for all parts",
            ),
            (
                broadcast.id,
                Parts::Count(3),
                params,
                "cannot be used with the route `broadcast`, which makes a part for each executor",
            ),
        ] {
            let (cause, parts) = (Cause::Api, Some(parts));
            let ask = RunRequest { job_id, cause, params, parts, priority: None, address: None, idempotency_key: None };
            let refused = node.engine.jobs().run(ask, &actor()).await.unwrap_err().to_string();
            assert_eq!(refused, format!("parts: {why}"));
        }
        assert_eq!(node.runs(job).await.len(), 0);
    });
}
