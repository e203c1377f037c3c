//! Runs of jobs that keep limits: how many are at work, who goes next, and what waits.

use carillon_engine::manage::RunRequest;
use carillon_engine::runtime::Service as _;
use carillon_scheduler::RunState::{Claimed, Failed, Running, Succeeded};
use carillon_scheduler::{Cause, Clock as _, LimitDraft, Overlap, RunState};
use carillon_store::Job;

use crate::conformance::fixture::actor;
use crate::flow::node::{Node, with_registered_executor};

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
        let places = node.store.limits().places_of(runs[3]).await.unwrap();
        assert_eq!((places[0].place, &places[0].holders), (2, &runs[..2].to_vec()));
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
        let mut draft = job.draft.clone();
        draft.limits.clear();
        node.edit(&job, draft).await;
        // It is looked at again after ten seconds at the latest.
        node.advance(5_100).await;
        node.advance(5_100).await;
        assert_eq!(node.states_of(&runs).await, [Running, Running]);
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
