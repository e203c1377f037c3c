//! The items that a run has handed in, on its page: how far they are, which have failed, and the latest deliveries.

use carillon_scheduler::run::map::ItemState;
use carillon_store::RunView;
use carillon_store::map::view::ItemWithOutcome;
use carillon_store::map::view::{ItemQuery, ItemRun, MapView};

use crate::web::console::badge::{Badge, run_badge};
use crate::web::page::PageError;
use crate::web::state::State;

/// Items of each kind that the page shows, and deliveries.
const SHOWN: usize = 20;

pub struct Items {
    pub map: MapView,
    /// Those that have failed, before those that are delivered again.
    pub failed: Vec<ItemWithOutcome>,
    pub runs: Vec<(ItemRun, Badge)>,
}

impl Items {
    /// None: the run has handed in none.
    pub async fn of(state: &State, run: &RunView) -> Result<Option<Self>, PageError> {
        let maps = state.store.maps();
        let Some(map) = maps.view(run.id).await? else {
            return Ok(None);
        };
        let of = |state| ItemQuery { after: -1, state: Some(state), limit: SHOWN };
        let mut failed = vec![];
        // A search walks over all items, so none begins that finds none.
        for (state, count) in [(ItemState::Failed, map.failed), (ItemState::Retrying, map.retrying)] {
            if count > 0 {
                failed.extend(maps.items(run.id, of(state)).await?);
            }
        }
        let runs = maps.latest_runs(run.id, run.job_id, SHOWN).await?;
        let runs = runs
            .into_iter()
            .map(|run| {
                let badge = run_badge(run.state);
                (run, badge)
            })
            .collect();
        Ok(Some(Self { map, failed, runs }))
    }

    /// Of a hundred, without a fraction: 100 only when all have their outcome.
    pub fn percent(&self) -> i64 {
        if self.map.items == 0 { 100 } else { self.ended() * 100 / self.map.items }
    }

    /// Items with an outcome.
    pub fn ended(&self) -> i64 {
        self.map.succeeded + self.map.failed
    }
}
