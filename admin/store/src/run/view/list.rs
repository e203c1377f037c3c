//! Lists of runs, newest first, page by page.

use carillon_scheduler::{Cause, Millis, RunState};

use crate::db::sql::filter::{Conditions, Page, page_and_one};
use crate::db::sql::rows::Code;
use crate::error::Result;
use crate::run::view::run_view::{COLUMNS, NAMES, NO_INPUT, RunView};
use crate::store::Store;

/// Which runs; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    pub job_id: Option<i64>,
    /// The app's name.
    pub app: Option<String>,
    /// Any of these; empty: any at all.
    pub states: Vec<RunState>,
    pub cause: Option<Cause>,
    /// `from` ≤ `scheduled_at` < `to`.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    /// Runs with a smaller id than this.
    pub after: Option<i64>,
    /// Runs with a greater id than this: bounds what a rare find costs.
    pub above: Option<i64>,
    /// 1 to 1000.
    pub limit: u32,
}

/// Rows that a count looks at, at most: the newest ones.
const COUNTED: i64 = 100_000;

impl Store {
    pub async fn runs(&self, filter: &RunFilter) -> Result<Page<RunView>> {
        let mut conditions = self.run_conditions(filter).await?;
        conditions.add_if("r.id < ?", filter.after);
        let (filter_text, mut values) = conditions.finish();
        let (limit, one_more) = page_and_one(filter.limit);
        values.push(one_more);
        // The page is cut before anything is joined: MariaDB would begin with the apps and sort all runs.

        let text = format!(
            "SELECT {COLUMNS}, {NO_INPUT} FROM (SELECT * FROM run r{filter_text} ORDER BY r.id DESC LIMIT ?) AS r {NAMES} ORDER BY r.id DESC"
        );
        let runs = self.all(&self.read, &text, values).await?;
        Ok(Page::cut(runs, limit, |run: &RunView| run.id))
    }

    /// How many of the runs that the filter finds are in each state, on all its pages. At most the newest 100,000 of
    /// them are counted; the second value says whether there were more.
    pub async fn count_runs_by_state(&self, filter: &RunFilter) -> Result<(Vec<(RunState, i64)>, bool)> {
        let (filter_text, mut values) = self.run_conditions(filter).await?.finish();
        values.push(COUNTED.into());
        let text = format!(
            "SELECT state, COUNT(*) FROM (SELECT r.state AS state FROM run r{filter_text} ORDER BY r.id DESC LIMIT ?) AS newest \
             GROUP BY state ORDER BY state"
        );
        let rows: Vec<(Code<RunState>, i64)> = self.tuples(&self.read, &text, values).await?;
        let counts: Vec<_> = rows.into_iter().map(|(Code(state), count)| (state, count)).collect();
        let sum: i64 = counts.iter().map(|(_, count)| count).sum();
        Ok((counts, sum >= COUNTED))
    }

    async fn run_conditions(&self, filter: &RunFilter) -> Result<Conditions> {
        let mut conditions = conditions(filter);
        if !filter.states.is_empty() && filter.states.iter().all(|state| state.is_open()) {
            // What the index of open runs begins with, and its condition in the words that every planner recognises.
            let shards: Vec<i32> = self.tuples(&self.read, "SELECT shard FROM shard_lease", vec![]).await?;
            conditions.among("r.shard", shards);
            conditions.add("r.state < {state.final}", []);
        }
        Ok(conditions)
    }
}

fn conditions(filter: &RunFilter) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.add_if("r.job_id = ?", filter.job_id);
    conditions.add_if("r.app_id = (SELECT id FROM app WHERE name = ?)", filter.app.as_deref());
    conditions.among("r.state", filter.states.iter().map(|state| state.code()));
    conditions.add_if("r.id > ?", filter.above);
    conditions.add_if("r.cause = ?", filter.cause.map(Cause::code));
    conditions.add_if("r.scheduled_at >= ?", filter.from);
    conditions.add_if("r.scheduled_at < ?", filter.to);
    conditions
}
