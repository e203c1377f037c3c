//! Lists of runs, newest first, page by page.

use carillon_scheduler::{Cause, Millis, RunState};
use sea_orm::Value;

use crate::db::sql::filter::{Conditions, Page, Search, page_and_one};
use crate::db::sql::rows::Code;
use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::run::view::run_view::{COLUMNS, NAMES, NO_INPUT, RunView};
use crate::store::Store;

/// Which runs; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of these apps.
    pub apps: VisibleApps,
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
    /// 1 to 1000.
    pub limit: u32,
}

impl RunFilter {
    /// Whether a run may lack what it asks for.
    fn is_narrow(&self) -> bool {
        let Self { apps, job_id, app, states, cause, from, to, after: _, limit: _ } = self;
        !apps.is_all()
            || job_id.is_some()
            || app.is_some()
            || !states.is_empty()
            || cause.is_some()
            || from.is_some()
            || to.is_some()
    }

    /// Whether the index of open runs finds them.
    fn is_open(&self) -> bool {
        !self.states.is_empty() && self.states.iter().all(|state| state.is_open())
    }
}

/// Rows that a count looks at, at most: the newest ones.
const COUNTED: i64 = 100_000;
/// Ids that one page of a filter looks at. There is no index by job, time or cause: each claim would pay for it.
pub const SEARCHED_RUN_IDS: i64 = 100_000;

impl Store {
    /// Newest first. A filter looks at [`SEARCHED_RUN_IDS`] ids for one page, which may find none of many.
    pub async fn runs(&self, filter: &RunFilter) -> Result<Page<RunView>> {
        let search = self.run_search(filter).await?;
        let conditions = self.run_conditions(filter).await?;
        let (rows, values) = page_rows(conditions, filter, search);
        let (limit, _) = page_and_one(filter.limit);
        let text = format!("SELECT {COLUMNS}, {NO_INPUT} FROM ({rows}) AS r {NAMES} ORDER BY r.id DESC");
        let runs = self.all(&self.read, &text, values).await?;
        Ok(search.complete(Page::cut(runs, limit, |run: &RunView| run.id)))
    }

    async fn run_search(&self, filter: &RunFilter) -> Result<Search> {
        if !filter.is_narrow() || filter.is_open() {
            return Ok(Search { bottom: None });
        }
        let ends = self.ends_of(&self.read, "run").await?;
        Ok(ends.map_or(Search { bottom: None }, |ends| Search::below(ends, filter.after, SEARCHED_RUN_IDS)))
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
    conditions.add_if("r.id < ?", filter.after);
    conditions.add_if("r.id >= ?", search.bottom);
    let (filter_text, mut values) = conditions.finish();
    values.push(page_and_one(filter.limit).1);
    (format!("SELECT * FROM run r{filter_text} ORDER BY r.id DESC LIMIT ?"), values)
}

pub(crate) fn conditions(filter: &RunFilter) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.visible(&filter.apps, "r.app_id");
    conditions.add_if("r.job_id = ?", filter.job_id);
    conditions.add_if("r.app_id = (SELECT id FROM app WHERE name = ?)", filter.app.as_deref());
    conditions.among("r.state", filter.states.iter().map(|state| state.code()));
    conditions.add_if("r.cause = ?", filter.cause.map(Cause::code));
    conditions.add_if("r.scheduled_at >= ?", filter.from);
    conditions.add_if("r.scheduled_at < ?", filter.to);
    conditions
}
