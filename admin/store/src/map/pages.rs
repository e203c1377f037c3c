//! Items that a run hands in, page by page.

use carillon_scheduler::run::map::{ItemState, MAX_BYTES, MAX_ITEMS};
use carillon_scheduler::{Cause, RunState};

use crate::db::pool::transaction::Transaction;
use crate::db::sql::bulk::Bulk;
use crate::db::sql::list::{int, text};
use crate::db::sql::retry;
use crate::error::{Error, Result};
use crate::run::lock::{LockMode, LockedRun};
use crate::run::settle::finding::Reporter;
use crate::run::settle::outcomes::is_start_of;
use crate::views::MapStore;

/// What an item takes in the parameters of a delivery beside its text: `{"item":99999,"params":""},`.
const FRAME: usize = 29;

/// A page of items.
#[derive(Clone, Debug)]
pub struct NewPage {
    pub run_id: i64,
    pub page: i32,
    pub items: Vec<String>,
    /// Items of a delivery at most. None: it is chosen for them.
    pub chunk: Option<i32>,
    /// A last run reads their results.
    pub reduces: bool,
}

pub(crate) static INSERT_ITEMS: Bulk = Bulk::text(
    &[int("item"), int("size"), text("params", "MEDIUMTEXT")],
    "INSERT INTO map_item (run_id, item, state, size, params) SELECT :run, u.item, :state, u.size, u.params FROM {list}",
);

impl MapStore<'_> {
    /// Stores a page from the executor that has the run. A page that is there already changes nothing.
    ///
    /// # Errors
    /// `Refused`: no run that may hand in items, or too many of them
    pub async fn add_page(self, page: &NewPage, reporter: &Reporter) -> Result<()> {
        retry::on_conflict(|| self.try_add_page(page, reporter)).await
    }

    async fn try_add_page(self, page: &NewPage, reporter: &Reporter) -> Result<()> {
        let tx = self.begin_change().await?;
        let runs = self.runs().lock_runs(&tx, &[page.run_id], LockMode::Wait).await?;
        check_root(runs.by_id.get(&page.run_id), reporter)?;
        let known = self.map_row(&tx, page.run_id).await?;
        let text = "SELECT page FROM map_page WHERE run_id = ? AND page = ?";
        if self.tuple::<i32>(&tx, text, values![page.run_id, page.page]).await?.is_some() {
            return Ok(());
        }
        let before = known.as_ref().map_or((0, 0), |map| (map.items, map.bytes));
        let items: Vec<(i32, i32, &str)> =
            (before.0..).zip(&page.items).map(|(item, text)| (item, size_of(text), text.as_str())).collect();
        let bytes = before.1 + items.iter().map(|item| i64::from(item.1)).sum::<i64>();
        let count = before.0 as usize + items.len();
        check_size(count, bytes)?;
        match known {
            Some(_) => {
                let text = "UPDATE map_run SET items = ?, bytes = ? WHERE run_id = ?";
                self.execute(&tx, text, values![count as i32, bytes, page.run_id]).await?;
            }
            None => self.begin_map(&tx, page, (count as i32, bytes)).await?,
        }
        self.insert_rows(&tx, "map_page", "run_id, page", vec![values![page.run_id, page.page]]).await?;
        if !items.is_empty() {
            let scalars = named![run: page.run_id, state: ItemState::Waiting.code()];
            self.bulk(&tx, &INSERT_ITEMS, &scalars, &items).await?;
        }
        Ok(tx.commit().await?)
    }

    /// From now on the success of the run is not its end.
    async fn begin_map(self, tx: &Transaction, page: &NewPage, (items, bytes): (i32, i64)) -> Result<()> {
        let row = values![page.run_id, items, bytes, page.chunk, page.reduces];
        self.insert_rows(tx, "map_run", "run_id, items, bytes, chunk, reduces", vec![row]).await?;
        let text = "UPDATE run SET follow = follow | {follow.map} WHERE id = ?";
        self.execute(tx, text, values![page.run_id]).await.map(drop)
    }
}

fn check_root(run: Option<&LockedRun>, reporter: &Reporter) -> Result<()> {
    let on_its_way = |run: &&LockedRun| matches!(run.state, RunState::Sending | RunState::Running) && !run.is_held();
    let run = run.filter(on_its_way).ok_or_else(|| Error::refused("logId", "is no run that an executor works on"))?;
    if run.cause == Cause::Item {
        return Err(Error::refused("logId", "is a delivery of items, which cannot hand in items"));
    }
    check_reporter(run, reporter)
}

pub(crate) fn check_reporter(run: &LockedRun, reporter: &Reporter) -> Result<()> {
    match reporter.token.allows(run.app_id) && is_start_of(reporter, run) {
        true => Ok(()),
        false => Err(Error::refused("logId", "is a run that another executor has")),
    }
}

fn check_size(count: usize, bytes: i64) -> Result<()> {
    if count > MAX_ITEMS {
        return Err(Error::refused("items", format!("are {count} in all pages of the run; at most {MAX_ITEMS}")));
    }
    if bytes > MAX_BYTES {
        return Err(Error::refused(
            "items",
            format!("have {bytes} bytes in all pages of the run; at most {MAX_BYTES}"),
        ));
    }
    Ok(())
}

/// Bytes of an item in the parameters of a delivery.
fn size_of(text: &str) -> i32 {
    let in_json = serde_json::to_string(text).map_or(usize::MAX, |json| json.len());
    i32::try_from(in_json.saturating_add(FRAME)).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_an_item_is_what_it_takes_in_a_delivery() {
        let items = ["plain", "\"quoted\"\n", "\u{1}é"];
        let delivered: Vec<_> = items.iter().map(|text| json(99_999, text)).collect();
        let sizes: i32 = items.iter().map(|text| size_of(text)).sum();
        let json = delivered.join(",");
        assert!(json.len() as i32 <= sizes, "{json}");
    }

    fn json(item: i32, params: &str) -> String {
        serde_json::json!({"item": item, "params": params}).to_string()
    }
}
