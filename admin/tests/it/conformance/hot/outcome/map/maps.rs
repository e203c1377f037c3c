//! What the tests start from: runs that hand in items.

use std::collections::BTreeSet;
use std::sync::Arc;

use carillon_scheduler::run::map::ItemState;
use carillon_scheduler::{Cause, RetryDelay, RunState};
use carillon_store::Job;
use carillon_store::map::delivery::ItemInput;
use carillon_store::map::pages::NewPage;
use carillon_store::map::results::ItemOutcome;
use carillon_store::map::view::ItemQuery;
use carillon_store::run::settle::finding::{Reporter, ReporterToken};

use crate::conformance::fixture::Fixture;
use crate::conformance::hot::outcome::settle::{FOLLOW_UP, success};
use crate::conformance::hot::rows::RunRow;

/// An executor with the token of all apps.
pub fn executor() -> Reporter {
    let token = ReporterToken::Global { except: Arc::new(BTreeSet::new()) };
    Reporter { token, boot_id: None, journal_id: None, source: "10.0.0.9".into() }
}

pub fn page(run_id: i64, page: i32, items: &[&str]) -> NewPage {
    let items = items.iter().map(|item| (*item).to_owned()).collect();
    NewPage { run_id, page, items, chunk: Some(2), reduces: false }
}

pub fn outcome(item: i32, succeeded: bool) -> ItemOutcome {
    let message = Some(if succeeded { format!("did {item}") } else { format!("cannot do {item}") });
    ItemOutcome { item, succeeded, message }
}

impl Fixture {
    /// A job, and a run of it that an executor works on.
    pub async fn root(&self, retries: i32) -> (Job, i64) {
        let job = self
            .ticking_with("map", |draft| {
                draft.retries = retries;
                draft.retry_delay = RetryDelay::Fixed { seconds: vec![0] };
            })
            .await;
        let ids = self.runs_in(&job, &[RunState::Running]).await;
        (job, ids[0])
    }

    /// A run that has handed in these items, two in a delivery, and has succeeded.
    pub async fn mapped(&self, retries: i32, items: &[&str]) -> i64 {
        let (_, root) = self.root(retries).await;
        self.store.maps().add_page(&page(root, 0, items), &executor()).await.unwrap();
        self.hold(root).await;
        root
    }

    pub async fn hold(&self, root: i64) {
        self.store.runs().settle(&[success(root)], &FOLLOW_UP).await.unwrap();
        self.go_on().await;
    }

    /// The deliveries of a run, and what reads their results, by part and attempt.
    pub async fn item_runs(&self, root: i64) -> Vec<RunRow> {
        let mut runs = self.rows_where(&format!("cause = {} AND fire_no = {root}", Cause::Item.code())).await;
        runs.sort_by_key(|run| (run.part, run.attempt));
        runs
    }

    /// Those that wait are with executors from now on. Their ids.
    pub async fn send_items(&self, root: i64) -> Vec<i64> {
        let waiting = self.item_runs(root).await.into_iter().filter(|run| run.state() == RunState::Claimed);
        let ids: Vec<i64> = waiting.map(|run| run.id).collect();
        for id in &ids {
            self.sql(&format!("UPDATE run SET state = 2 WHERE id = {id}")).await;
        }
        ids
    }

    /// Deliveries as `part.attempt state`.
    pub async fn deliveries(&self, root: i64) -> String {
        let runs = self.item_runs(root).await;
        let word = |run: &RunRow| format!("{}.{} {}", run.part, run.attempt, run.state());
        runs.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// Items as `number state`.
    pub async fn items(&self, root: i64) -> String {
        let query = ItemQuery { after: -1, state: None, limit: 1000 };
        let items = self.store.maps().items(root, query).await.unwrap();
        items.iter().map(|item| format!("{} {}", item.item, item.state)).collect::<Vec<_>>().join(", ")
    }

    pub async fn counts(&self, root: i64) -> [i64; 4] {
        let view = self.store.maps().view(root).await.unwrap().unwrap();
        [view.waiting(), view.succeeded, view.retrying, view.failed]
    }

    /// The numbers of the items that a delivery carries now.
    pub async fn carried(&self, root: i64, delivery: i32) -> Vec<i32> {
        match self.store.maps().input(root, delivery).await.unwrap() {
            ItemInput::Delivery(items) => items.into_iter().map(|(item, _)| item).collect(),
            ItemInput::Reduction { .. } => panic!("no delivery"),
        }
    }

    pub async fn say(&self, run_id: i64, outcomes: &[ItemOutcome]) -> u64 {
        self.store.maps().add_outcomes(run_id, outcomes, &executor()).await.unwrap()
    }

    /// Whether an item has this state.
    pub async fn items_in(&self, root: i64, state: ItemState) -> Vec<i32> {
        let query = ItemQuery { after: -1, state: Some(state), limit: 1000 };
        self.store.maps().items(root, query).await.unwrap().iter().map(|item| item.item).collect()
    }
}
