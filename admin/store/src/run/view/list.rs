//! Lists of runs, page by page.

use carillon_scheduler::{FieldError, RunState};
use sea_orm::Value;

use crate::db::sql::filter::{Conditions, Page, Search, page_size};
use crate::error::{Error, Result};
use crate::run::view::filter::{RunFilter, RunSort, conditions};
use crate::run::view::run_view::{COLUMNS, NAMES, NO_INPUT, RunView};
use crate::views::RunStore;

/// Rows that a count looks at, at most: the newest ones.
const COUNTED: i64 = 100_000;
/// Searches of one selection: five million ids.
const MOST_SEARCHES: usize = 50;

impl RunStore<'_> {
    /// In the order of the filter. A filter looks at [`RunFilter::searched_ids`] ids for one page, which may find none of many.
    pub async fn list(self, filter: &RunFilter) -> Result<Page<RunView>> {
        let search = self.run_search(filter).await?;
        let conditions = self.run_conditions(filter).await?;
        let (rows, values) = page_rows(conditions, filter, search);
        let limit = page_size(filter.limit);
        let order = filter.sort.order();
        let text = format!("SELECT {COLUMNS}, {NO_INPUT} FROM ({rows}) AS r {NAMES} ORDER BY {order}");
        let rows = self.query(&self.read, &text, values).await?;
        if filter.sort == RunSort::Id {
            return Ok(search.complete(self.readable_page("run", &rows, limit, |run: &RunView| run.id)));
        }
        let behind = filter.runs_before().saturating_add(limit.into());
        Ok(self.readable_page("run", &rows, limit, |_: &RunView| behind))
    }

    /// The newest `cap` runs that a filter finds, without its pages and its order. Stops at the first run before its time.
    ///
    /// # Errors
    /// `Refused`: it would look at too many ids. What is done with all that match must not leave some out in silence.
    pub async fn ids_of(self, filter: &RunFilter, cap: u32) -> Result<Vec<i64>> {
        let mut filter = RunFilter { sort: RunSort::Id, after: None, limit: 1, ..filter.clone() };
        let mut found: Vec<i64> = vec![];
        for _ in 0..MOST_SEARCHES {
            let search = self.run_search(&filter).await?;
            let mut conditions = self.run_conditions(&filter).await?;
            conditions.add_if("r.id < ?", filter.after);
            conditions.add_if("r.id >= ?", search.bottom);
            let (filter_text, mut values) = conditions.finish();
            values.push((i64::from(cap) - found.len() as i64).into());
            let text = format!("SELECT r.id FROM run r{filter_text} ORDER BY r.id DESC LIMIT ?");
            found.extend(self.tuples::<i64>(&self.read, &text, values).await?);
            match search.bottom.filter(|_| found.len() < cap as usize) {
                Some(bottom) if !self.is_before(bottom, &filter).await? => filter.after = Some(bottom),
                _ => return Ok(found),
            }
        }
        Err(Error::Refused(FieldError::new("from", "reaches back over too many runs; give a later time")))
    }

    /// Whether the runs around an id are a day older than what the filter asks for: ids are nearly in the order of time.
    async fn is_before(self, id: i64, filter: &RunFilter) -> Result<bool> {
        const A_DAY: i64 = 86_400_000;
        let Some(from) = filter.from else {
            return Ok(false);
        };
        let text = "SELECT due_at FROM run WHERE id >= ? ORDER BY id LIMIT 1";
        let at: Option<i64> = self.tuple(&self.read, text, values![id]).await?;
        Ok(at.is_some_and(|at| at < from - A_DAY))
    }

    async fn run_search(self, filter: &RunFilter) -> Result<Search> {
        let is_sorted = filter.sort != RunSort::Id;
        if !filter.is_narrow() || filter.is_open() && !is_sorted {
            return Ok(Search { bottom: None });
        }
        let ends = self.ends_of(&self.read, "run").await?;
        let below = filter.after.filter(|_| !is_sorted);
        Ok(ends.map_or(Search { bottom: None }, |ends| Search::below(ends, below, filter.searched_ids())))
    }

    /// How many of the runs that the filter finds are in each state, on all its pages. At most the newest 100,000 of
    /// them are counted; the second value says whether there were more.
    pub async fn count_by_state(self, filter: &RunFilter) -> Result<(Vec<(RunState, i64)>, bool)> {
        let (filter_text, mut values) = self.run_conditions(filter).await?.finish();
        values.push(COUNTED.into());
        let text = format!(
            "SELECT state, COUNT(*) FROM (SELECT r.state AS state FROM run r{filter_text} ORDER BY r.id DESC LIMIT ?) AS newest \
             GROUP BY state ORDER BY state"
        );
        let rows: Vec<(i16, i64)> = self.tuples(&self.read, &text, values).await?;
        let sum: i64 = rows.iter().map(|(_, count)| count).sum();
        let counts = rows.into_iter().filter_map(|(state, count)| Some((RunState::from_code(state)?, count))).collect();
        Ok((counts, sum >= COUNTED))
    }

    async fn run_conditions(self, filter: &RunFilter) -> Result<Conditions> {
        let mut conditions = conditions(self.backend, filter);
        if filter.is_open() {
            // What the index of open runs begins with, and its condition in the words that every planner recognises.
            let shards: Vec<i32> = self.tuples(&self.read, "SELECT shard FROM shard_lease", vec![]).await?;
            conditions.among("r.shard", shards);
            conditions.add("r.state < {state.final}", []);
        }
        Ok(conditions)
    }
}

/// The rows of a page and one more. They are cut before anything is joined: MariaDB would begin with the apps and sort all
/// runs.
pub(crate) fn page_rows(mut conditions: Conditions, filter: &RunFilter, search: Search) -> (String, Vec<Value>) {
    let is_sorted = filter.sort != RunSort::Id;
    conditions.add_if("r.id < ?", filter.after.filter(|_| !is_sorted));
    conditions.add_if("r.id >= ?", search.bottom);
    let (filter_text, mut values) = conditions.finish_page(filter.limit);
    let mut text = format!("SELECT * FROM run r{filter_text} ORDER BY {} LIMIT ?", filter.sort.order());
    if is_sorted {
        text.push_str(" OFFSET ?");
        values.push(filter.runs_before().into());
    }
    (text, values)
}
