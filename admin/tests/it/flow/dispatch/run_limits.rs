//! Runs of jobs that keep limits: how many are at work, who goes next, and what waits.

use carillon_engine::manage::RunRequest;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::RunState::{Claimed, Failed, Running, Succeeded};
use carillon_scheduler::{Cause, Clock as _, LimitDraft, Overlap, RunState};
use carillon_store::{Job, VisibleApps};

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, on_node, with_registered_executor};

impl Node {
    async fn limit(&self, draft: LimitDraft) -> i64 {
        self.engine.run_limits().create(draft, &actor()).await.unwrap().rule.id
    }

    async fn with_limits(&self, names: &[&str]) -> Job {
        self.job(|draft| draft.limits = names.iter().map(|name| (*name).to_owned()).collect()).await
    }

    async fn fire_with(&self, job: &Job, change: impl FnOnce(&mut RunRequest)) -> i64 {
        let mut ask = RunRequest {
            job_id: job.id,
            cause: Cause::Manual,
            params: None,
            parts: None,
            priority: None,
            address: None,
            idempotency_key: None,
        };
        change(&mut ask);
        self.engine.jobs().run(ask, &actor()).await.unwrap()
    }

    async fn state(&self, run_id: i64) -> RunState {
        self.store.runs().get(run_id).await.unwrap().unwrap().state
    }

    async fn reason(&self, run_id: i64) -> Option<String> {
        self.store.runs().get(run_id).await.unwrap().unwrap().reason
    }

    async fn states_of(&self, run_ids: &[i64]) -> Vec<RunState> {
        let mut states = vec![];
        for run_id in run_ids {
            states.push(self.state(*run_id).await);
        }
        states
    }
}

#[test]
fn no_more_runs_are_at_work_than_a_limit_allows_and_an_end_lets_the_next_one_go() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft::new("db-export", 2)).await;
        let (one, other) = (node.with_limits(&["db-export"]).await, node.with_limits(&["db-export"]).await);
        let mut runs = vec![];
        for job in [&one, &other, &one, &other] {
            runs.push(node.fire(job).await);
        }
        node.round().await;
        node.advance(600).await;
        assert_eq!(node.states_of(&runs).await, [Running, Running, Claimed, Claimed]);
        node.services.limit_keeper.step().await;
        let waiting = node.store.runs().get(runs[2]).await.unwrap().unwrap();
        assert_eq!(waiting.reason.as_deref(), Some("limit"));
        let places = node.store.limits().places_of(&runs[3..], &VisibleApps::All).await.unwrap();
        let place = &places[&runs[3]][0];
        assert_eq!((place.place, place.taken, &place.holders), (2, 2, &runs[..2].to_vec()));
        node.callback(&[(runs[0], 200, "")]).await;
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Succeeded, Running, Running, Claimed]);
        let gone = node.store.runs().get(runs[2]).await.unwrap().unwrap();
        assert_eq!(gone.reason, None, "it waits no longer");
        node.callback(&[(runs[1], 500, ""), (runs[2], 200, "")]).await;
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Succeeded, Failed, Succeeded, Running]);
        node.callback(&[(runs[3], 200, "")]).await;
        assert_eq!(node.store.limits().taken_of_each().await.unwrap().len(), 0);
    });
}

#[test]
fn a_job_without_a_limit_is_not_held_up() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft::new("db-export", 1)).await;
        let limited = node.with_limits(&["db-export"]).await;
        let free = node.job(|_| ()).await;
        let runs = [node.fire(&limited).await, node.fire(&limited).await, node.fire(&free).await];
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running, Claimed, Running]);
    });
}

#[test]
fn each_value_of_the_key_has_slots_of_its_own() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft { key: "customer".into(), ..LimitDraft::new("per-customer", 1) }).await;
        let job = node.with_limits(&["per-customer"]).await;
        let mut runs = vec![];
        for customer in [1, 1, 2] {
            let params = Some(format!("{{\"customer\": {customer}}}"));
            runs.push(node.fire_with(&job, |ask| ask.params = params).await);
        }
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running, Claimed, Running]);
    });
}

#[test]
fn the_parameters_of_a_run_that_waits_are_read_once() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft { key: "customer".into(), ..LimitDraft::new("per-customer", 1) }).await;
        let job = node.with_limits(&["per-customer"]).await;
        let mut runs = vec![];
        for _ in 0..2 {
            let params = Some("{\"customer\": 1}".to_owned());
            runs.push(node.fire_with(&job, |ask| ask.params = params).await);
        }
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running, Claimed]);
        // Nothing changes them but this test, which shows so that they are not read again.
        let other = "{\"customer\": 2}";
        node.sql(&format!("UPDATE run_input SET params = '{other}' WHERE run_id = {}", runs[1])).await;
        for _ in 0..3 {
            node.services.limit_keeper.step().await;
            node.advance(5_000).await;
        }
        assert_eq!(node.states_of(&runs).await, [Running, Claimed]);
        node.edit(&job, carillon_scheduler::JobDraft { name: "edited".into(), ..job.draft.clone() }).await;
        for _ in 0..3 {
            node.advance(5_000).await;
        }
        assert_eq!(node.states_of(&runs).await, [Running, Running], "a job that was edited may have another limit");
    });
}

#[test]
fn the_key_is_taken_from_the_parameters_that_the_executor_gets() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft { key: "run".into(), ..LimitDraft::new("per-run", 1) }).await;
        let job = node
            .job(|draft| {
                draft.limits = vec!["per-run".into()];
                draft.params = "{\"run\": {{run_id}}}".into();
            })
            .await;
        let runs = [node.fire(&job).await, node.fire(&job).await];
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running, Running]);
    });
}

#[test]
fn a_run_whose_executor_does_not_answer_fails_though_its_job_keeps_a_limit() {
    on_node(async |node| {
        node.register_address("http://127.0.0.1:1/", None).await;
        node.limit(LimitDraft::new("wide", 100)).await;
        let job = node.with_limits(&["wide"]).await;
        // It shuts the address for ten seconds.
        let first = node.fire(&job).await;
        node.round().await;
        assert_eq!(node.state(first).await, Failed);
        let mut runs = vec![];
        for _ in 0..20 {
            runs.push(node.fire(&job).await);
        }
        node.round().await;
        for _ in 0..14 {
            node.renew_leases().await;
            node.advance(5_000).await;
        }
        // One by one they would have been tried, and most of them would wait yet.
        for state in node.states_of(&runs).await {
            assert_eq!(state, Failed);
        }
    });
}

#[test]
fn a_run_whose_limit_is_gone_is_noted_as_one_that_waits() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft::new("db-export", 1)).await;
        let job = node.with_limits(&["db-export"]).await;
        node.sql("DELETE FROM limit_rule").await;
        node.advance(1_000).await;
        node.services.limit_keeper.step().await;
        let run = node.fire(&job).await;
        node.round().await;
        node.services.limit_keeper.step().await;
        assert_eq!((node.state(run).await, node.reason(run).await.as_deref()), (Claimed, Some("limit")));
    });
}

#[test]
fn fires_in_the_line_of_a_limit_keep_their_places_before_those_of_the_queue() {
    with_registered_executor(async |node, _| {
        let limit = node.limit(LimitDraft::new("db-export", 1)).await;
        let holder = node.fire(&node.with_limits(&["db-export"]).await).await;
        node.round().await;
        let job = node
            .every(10, |draft| {
                draft.limits = vec!["db-export".into()];
                draft.overlap = Overlap::Wait;
                draft.max_concurrent = 3;
                draft.overlap_queue = 2;
            })
            .await;
        for _ in 0..5 {
            node.advance(10_000).await;
            node.round().await;
        }
        assert_eq!(node.states(&job).await, [Claimed; 5]);
        let reasons = async || -> Vec<_> { node.runs(&job).await.into_iter().map(|run| run.reason).collect() };
        let in_queue = Some("overlap".to_owned());
        assert_eq!(reasons().await[3..], [in_queue.clone(), in_queue.clone()]);
        node.callback(&[(holder, 200, "")]).await;
        node.round().await;
        assert_eq!(node.states(&job).await, [Running, Claimed, Claimed, Claimed, Claimed]);
        assert_eq!(reasons().await[3..], [in_queue.clone(), in_queue], "three are at work or before the limit");
        // All of them were accepted, and none is cancelled where all go.
        node.engine.run_limits().update(limit, LimitDraft::new("db-export", 9), None, &actor()).await.unwrap();
        node.advance(500).await;
        assert_eq!(node.states(&job).await, [Running, Running, Running, Claimed, Claimed]);
    });
}

#[test]
fn a_priority_goes_before_what_has_waited_for_less() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft::new("db-export", 1)).await;
        let job = node.with_limits(&["db-export"]).await;
        let first = node.fire(&job).await;
        node.round().await;
        let early = node.fire(&job).await;
        node.advance(5_000).await;
        let urgent = node.fire_with(&job, |ask| ask.priority = Some(60)).await;
        let late = node.fire_with(&job, |ask| ask.priority = Some(-60)).await;
        node.round().await;
        for (end, next) in [(first, urgent), (urgent, early), (early, late)] {
            assert_eq!(node.state(next).await, Claimed);
            node.callback(&[(end, 200, "")]).await;
            node.round().await;
            assert_eq!(node.state(next).await, Running);
        }
    });
}

#[test]
fn a_limit_of_an_app_holds_for_all_its_jobs() {
    with_registered_executor(async |node, _| {
        let draft = LimitDraft { app: Some("orders".into()), all_jobs: true, ..LimitDraft::new("at-work", 1) };
        let id = node.limit(draft.clone()).await;
        let runs = [node.fire(&node.job(|_| ()).await).await, node.fire(&node.job(|_| ()).await).await];
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running, Claimed]);
        // It is made wider, and what waits goes at once.
        node.engine.run_limits().update(id, LimitDraft { max: 2, ..draft }, None, &actor()).await.unwrap();
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running, Running]);
    });
}

#[test]
fn a_limit_that_is_deleted_lets_all_go() {
    with_registered_executor(async |node, _| {
        let draft = LimitDraft { app: Some("orders".into()), all_jobs: true, ..LimitDraft::new("at-work", 1) };
        let id = node.limit(draft).await;
        let job = node.job(|_| ()).await;
        let runs = [node.fire(&job).await, node.fire(&job).await, node.fire(&job).await];
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running, Claimed, Claimed]);
        node.engine.run_limits().delete(id, &actor()).await.unwrap();
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running; 3]);
    });
}

#[test]
fn an_edit_that_takes_the_limit_away_lets_its_runs_go() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft::new("db-export", 1)).await;
        let job = node.with_limits(&["db-export"]).await;
        let runs = [node.fire(&job).await, node.fire(&job).await];
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Running, Claimed]);
        node.services.limit_keeper.step().await;
        assert_eq!(node.reason(runs[1]).await.as_deref(), Some("limit"));
        let mut draft = job.draft.clone();
        draft.limits.clear();
        node.edit(&job, draft).await;
        // It is looked at again after ten seconds at the latest.
        node.advance(5_100).await;
        node.advance(5_100).await;
        assert_eq!(node.states_of(&runs).await, [Running, Running]);
        assert_eq!(node.reason(runs[1]).await, None, "it waits no longer");
    });
}

#[test]
fn a_run_that_is_cancelled_while_it_waits_takes_no_slot() {
    with_registered_executor(async |node, _| {
        node.limit(LimitDraft::new("db-export", 1)).await;
        let job = node.with_limits(&["db-export"]).await;
        let runs = [node.fire(&job).await, node.fire(&job).await, node.fire(&job).await];
        node.round().await;
        node.store.runs().request_kill(runs[1], node.clock.now(), None).await.unwrap();
        node.callback(&[(runs[0], 200, "")]).await;
        node.round().await;
        node.round().await;
        assert_eq!(node.states_of(&runs).await, [Succeeded, RunState::Cancelled, Running]);
    });
}

#[test]
fn three_fires_of_a_job_are_open_at_once_where_it_says_so() {
    with_registered_executor(async |node, _| {
        let job = node
            .every(10, |draft| {
                draft.overlap = Overlap::Wait;
                draft.max_concurrent = 3;
            })
            .await;
        for _ in 0..5 {
            node.advance(10_000).await;
        }
        assert_eq!(node.states(&job).await, [Running, Running, Running, Claimed, Claimed]);
        let first = node.runs(&job).await[0].id;
        node.callback(&[(first, 200, "")]).await;
        node.advance(500).await;
        assert_eq!(node.states(&job).await, [Succeeded, Running, Running, Running, Claimed]);
    });
}
