//! A map as people and API clients see it.

use carillon_scheduler::RunState;
use carillon_scheduler::run::map::ItemState;

use crate::db::sql::rows::Code;
use crate::error::Result;
use crate::views::MapStore;

/// How far the items of a run are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapView {
    pub items: i64,
    pub succeeded: i64,
    pub failed: i64,
    /// Failed, and delivered again.
    pub retrying: i64,
    /// Items that have a delivery.
    pub released: i64,
    /// Items of a delivery at most. None: not chosen yet.
    pub chunk: Option<i32>,
    pub deliveries: i64,
    /// Deliveries that have not ended.
    pub in_flight: i64,
    /// A last run reads the results.
    pub reduces: bool,
    pub reduce_run_id: Option<i64>,
}

row_struct! {
    /// An item with its outcome.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ItemWithOutcome {
        pub item: i32,
        pub state: ItemState as Code,
        pub message: Option<String>,
        pub params: String,
    }
}

/// The items of one delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryView {
    /// The run that has handed them in.
    pub root_id: i64,
    /// From 1; 0: it reads the results of all.
    pub delivery: i32,
    pub first_item: i32,
    pub items: i32,
}

row_struct! {
    /// A run that delivers items, or reads their results.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct ItemRun {
        pub run_id: i64,
        /// The number of the delivery; 0: it reads the results.
        pub part: i32,
        pub attempt: i32,
        pub state: RunState as Code,
        pub address: Option<String>,
        pub first_item: Option<i32>,
        pub items: Option<i32>,
    }
}

impl DeliveryView {
    /// The only item. None: it has several, or reads the results of all.
    pub fn only_item(&self) -> Option<i32> {
        (self.items == 1 && !self.is_reduce()).then_some(self.first_item)
    }

    pub fn is_reduce(&self) -> bool {
        self.delivery == 0
    }

    pub fn last_item(&self) -> i32 {
        self.first_item + self.items - 1
    }
}

impl ItemRun {
    /// Its first and last item. None: it reads the results of all.
    pub fn range(&self) -> Option<(i32, i32)> {
        self.first_item.zip(self.items).map(|(first, count)| (first, first + count - 1))
    }
}

/// Which items.
#[derive(Clone, Copy, Debug)]
pub struct ItemQuery {
    /// Those with a greater number.
    pub after: i32,
    pub state: Option<ItemState>,
    pub limit: usize,
}

impl MapView {
    /// Items without an outcome.
    pub fn waiting(&self) -> i64 {
        self.items - self.succeeded - self.failed - self.retrying
    }
}

impl MapStore<'_> {
    /// None: the run has handed in no items.
    pub async fn view(self, run_id: i64) -> Result<Option<MapView>> {
        let Some(map) = self.map_row(&self.read, run_id).await? else {
            return Ok(None);
        };
        let text = "SELECT state, COUNT(*) FROM map_item WHERE run_id = ? GROUP BY state";
        let counts: Vec<(i16, i64)> = self.tuples(&self.read, text, values![run_id]).await?;
        let count = |state: ItemState| counts.iter().find(|(code, _)| *code == state.code()).map_or(0, |it| it.1);
        Ok(Some(MapView {
            items: i64::from(map.items),
            succeeded: count(ItemState::Succeeded),
            failed: count(ItemState::Failed),
            retrying: count(ItemState::Retrying),
            released: i64::from(map.released),
            chunk: map.chunk,
            deliveries: i64::from(map.deliveries),
            in_flight: i64::from(map.in_flight),
            reduces: map.reduces,
            reduce_run_id: map.reduce_run_id,
        }))
    }

    /// Items of a run with what became of them, in the order of their numbers.
    pub async fn items(self, run_id: i64, query: ItemQuery) -> Result<Vec<ItemWithOutcome>> {
        let one_state = if query.state.is_some() { " AND state = ?" } else { "" };
        let text = format!(
            "SELECT item, state, result AS message, params FROM map_item WHERE run_id = ? AND item > ?{one_state} ORDER BY item LIMIT ?"
        );
        let mut values = values![run_id, query.after];
        values.extend(query.state.map(|state| state.code().into()));
        values.push((query.limit as i64).into());
        self.all(&self.read, &text, values).await
    }

    /// The latest runs for the items of a run, the last delivery first.
    pub async fn latest_runs(self, root_id: i64, job_id: i64, limit: usize) -> Result<Vec<ItemRun>> {
        let text = "SELECT run.id AS run_id, run.part, run.attempt, run.state, run.address, d.first_item, d.items FROM run \
                    LEFT JOIN map_delivery d ON d.run_id = run.fire_no AND d.delivery = run.part \
                    WHERE run.fire_no = ? AND run.job_id = ? AND run.cause = {cause.item} \
                    ORDER BY run.fire_no DESC, run.job_id DESC, run.cause DESC, run.part DESC, run.attempt DESC LIMIT ?";
        self.all(&self.read, text, values![root_id, job_id, limit as i64]).await
    }

    /// Which items a run with the cause `item` has, by its fire and part. None: they are gone.
    pub async fn delivery(self, root_id: i64, part: i32) -> Result<Option<DeliveryView>> {
        if part == 0 {
            let map = self.map_row(&self.read, root_id).await?;
            return Ok(map.map(|map| DeliveryView { root_id, delivery: 0, first_item: 0, items: map.items }));
        }
        let rows = self.delivery_rows(&self.read, root_id, &[i64::from(part)]).await?;
        let view = |row: &crate::map::rows::DeliveryRow| {
            let (first_item, items) = (row.first_item, row.items);
            DeliveryView { root_id, delivery: part, first_item, items }
        };
        Ok(rows.first().map(view))
    }
}
