//! Outcomes of items, as the executors of their deliveries report them, and what the last run reads of them.

use carillon_scheduler::Cause;
use carillon_scheduler::run::map::ItemState;

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::forms::Update;
use crate::db::sql::list::{int, short, text};
use crate::db::sql::retry;
use crate::db::sql::text::printable;
use crate::error::{Error, Result};
use crate::map::pages::check_reporter;
use crate::map::view::{ItemQuery, ItemWithOutcome};
use crate::run::lock::{LockMode, LockedRun};
use crate::run::settle::finding::Reporter;
use crate::views::MapStore;

/// The outcome of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemOutcome {
    pub item: i32,
    pub succeeded: bool,
    /// Its result, or why it failed.
    pub message: Option<String>,
}

/// Items of one answer at most.
const PAGE: usize = 1_000;
/// Bytes of the items and results of one answer, at most, but for the last of them.
const PAGE_BYTES: usize = 1 << 20;

pub(crate) static WRITE_OUTCOMES: Bulk = Bulk::update(
    &[int("item"), short("state"), text("result", "TEXT").nullable()],
    Update {
        table: "map_item",
        index: "PRIMARY",
        on: "map_item.item = u.item AND map_item.run_id = :root",
        set: &[("state", "u.state"), ("result", "u.result")],
        // Waiting, or failed and delivered again.
        only_if: "map_item.state IN (0, 2) AND map_item.item >= :first AND map_item.item < :end",
    },
);

impl MapStore<'_> {
    /// Stores outcomes of items of a delivery. Those of items that have succeeded, or have failed for good, change nothing. Answers how
    /// many were stored.
    ///
    /// # Errors
    /// `Refused`: no delivery, one of another executor, or one that has ended
    pub async fn add_outcomes(self, run_id: i64, outcomes: &[ItemOutcome], reporter: &Reporter) -> Result<u64> {
        retry::on_conflict(|| self.try_add_outcomes(run_id, outcomes, reporter)).await
    }

    async fn try_add_outcomes(self, run_id: i64, outcomes: &[ItemOutcome], reporter: &Reporter) -> Result<u64> {
        let tx = self.begin_change().await?;
        let run = self.item_run(&tx, run_id, reporter).await?;
        let (root, delivery) = (run.fire_no, run.part);
        // What ends the delivery locks this row first: an outcome is stored before that, or not at all.
        let text = "SELECT first_item, items FROM map_delivery WHERE run_id = ? AND delivery = ? AND ended = FALSE{for_update}";
        let Some((first, count)) = self.tuple::<(i32, i32)>(&tx, text, values![root, delivery]).await? else {
            return Err(Error::refused("logId", "is a delivery that has ended"));
        };
        let rows: Vec<(i32, i16, Option<String>)> = outcomes
            .iter()
            .map(|outcome| {
                let state = if outcome.succeeded { ItemState::Succeeded } else { ItemState::Retrying };
                (outcome.item, state.code(), outcome.message.as_deref().map(printable))
            })
            .collect();
        let done = self.bulk(&tx, &WRITE_OUTCOMES, &named![root, first, end: first + count], &rows).await?;
        tx.commit().await?;
        Ok(done)
    }

    /// The run of a delivery, or of what reads the results, which this executor has.
    async fn item_run(self, tx: &Transaction, run_id: i64, reporter: &Reporter) -> Result<LockedRun> {
        let mut runs = self.runs().lock_runs(tx, &[run_id], LockMode::Wait).await?;
        let run = runs.by_id.remove(&run_id).filter(|run| run.cause == Cause::Item);
        let run = run.ok_or_else(|| Error::refused("logId", "is no run that items were delivered to"))?;
        check_reporter(&run, reporter)?;
        Ok(run)
    }

    /// Items with a greater number than `after`, for the run that reads their results. Empty: there are no more.
    ///
    /// # Errors
    /// `Refused`: no such run, or one of another executor
    pub async fn items_for(self, run_id: i64, after: i32, reporter: &Reporter) -> Result<Vec<ItemWithOutcome>> {
        let tx = self.begin_change().await?;
        let run = self.item_run(&tx, run_id, reporter).await?;
        drop(tx);
        let mut items = self.items(run.fire_no, ItemQuery { after, state: None, limit: PAGE }).await?;
        let mut bytes = 0;
        let fits = items.iter().take_while(|item| {
            let before = bytes;
            bytes += item.params.len() + item.message.as_ref().map_or(0, String::len);
            before < PAGE_BYTES
        });
        let count = fits.count();
        items.truncate(count);
        Ok(items)
    }
}
