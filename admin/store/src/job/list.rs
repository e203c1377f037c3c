//! Lists of jobs, page by page.

use sea_orm::{DbBackend, Value};

use crate::db::sql::filter::{Page, Search, page_size};
use crate::error::Result;
use crate::job::filter::{JobFilter, JobSort, LAST_RESULTS, conditions};
use crate::job::next_fires::AHEAD;
use crate::job::stored_job::Job;
use crate::run::view::dashboard::RECENT_RUN_IDS;
use crate::views::JobStore;

/// Ids that one page of a filter looks at.
const SEARCHED: i64 = 200_000;

/// A page, and how many jobs the filter finds in all.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedJobs {
    pub page: Page<Job>,
    pub count: u32,
    /// There may be more than were counted.
    pub is_cut: bool,
}

impl JobStore<'_> {
    /// In the order of the filter. By id, a filter looks at 200,000 ids for one page, which may find none of many.
    pub async fn list(self, filter: &JobFilter) -> Result<Page<Job>> {
        if filter.sort != JobSort::Id {
            return self.sorted_jobs(filter).await;
        }
        let search = self.job_search(filter, filter.after).await?;
        let (rows, values) = page_rows(self.backend, filter, search, self.results_above(filter).await?);
        self.job_page(filter, search, &format!("({rows}) AS j"), values).await
    }

    /// The same with a count up to `cap`: one walk over the jobs for both.
    pub async fn counted(self, filter: &JobFilter, cap: u32) -> Result<CountedJobs> {
        if filter.sort != JobSort::Id {
            let count = self.count(filter, cap).await?;
            return Ok(CountedJobs { page: self.sorted_jobs(filter).await?, count, is_cut: count >= cap });
        }
        let search = self.job_search(filter, None).await?;
        let found = self.found_jobs(filter, search, cap).await?;
        let count = found.len() as u32;
        let is_cut = count >= cap || search.bottom.is_some();
        let page = match filter.after {
            Some(_) if is_cut => self.list(filter).await?,
            after => {
                let limit = page_size(filter.limit);
                let behind = found.iter().filter(|id| after.is_none_or(|after| **id < after));
                let ids: Vec<i64> = behind.take(limit as usize + 1).copied().collect();
                let from = "(SELECT * FROM job WHERE id IN ({ids})) AS j";
                self.job_page(filter, search, from, values![self.ids(&ids)]).await?
            }
        };
        Ok(CountedJobs { page, count, is_cut })
    }

    /// From the rows of one page and one more, as a table `j`.
    async fn job_page(self, filter: &JobFilter, search: Search, from: &str, values: Vec<Value>) -> Result<Page<Job>> {
        let rows = self.job_rows(&self.read, from, values).await?;
        let mut page = self.readable_page("job", &rows, filter.limit, |job: &Job| job.id);
        self.add_neighbours(&self.read, &mut page.items).await?;
        self.add_due_times(&mut page.items).await?;
        Ok(search.complete(page))
    }

    /// The page starts after this number of jobs.
    async fn sorted_jobs(self, filter: &JobFilter) -> Result<Page<Job>> {
        let limit = page_size(filter.limit);
        let before = filter.after.unwrap_or(0).max(0);
        let (text, mut values) = sorted_ids(self.backend, filter, self.results_above(filter).await?);
        values.extend([i64::from(limit + 1).into(), before.into()]);
        let mut ids: Vec<i64> = self.tuples(&self.read, &format!("{text} LIMIT ? OFFSET ?"), values).await?;
        let next = (ids.len() > limit as usize).then_some(before.saturating_add(limit.into()));
        ids.truncate(limit as usize);
        let mut jobs = self.with_ids(&ids).await?;
        jobs.sort_by_key(|job| ids.iter().position(|id| *id == job.id));
        self.add_due_times(&mut jobs).await?;
        Ok(Page { items: jobs, next })
    }

    /// How many jobs the filter finds; `cap` means that many or more.
    pub async fn count(self, filter: &JobFilter, cap: u32) -> Result<u32> {
        let (text, values) = count(self.backend, filter, cap, self.results_above(filter).await?);
        let count: i64 = self.tuple(&self.read, &text, values).await?.unwrap_or(0);
        Ok(count as u32)
    }

    /// The newest `cap` jobs that a filter finds, without its pages and its order.
    pub async fn ids_of(self, filter: &JobFilter, cap: u32) -> Result<Vec<i64>> {
        let filter = JobFilter { sort: JobSort::Id, ..filter.clone() };
        self.found_jobs(&filter, Search { bottom: None }, cap).await
    }

    /// The newest `cap` of those that a filter finds, wherever its page begins.
    async fn found_jobs(self, filter: &JobFilter, search: Search, cap: u32) -> Result<Vec<i64>> {
        let (text, values) = found_ids(self.backend, filter, search, cap, self.results_above(filter).await?);
        self.tuples(&self.read, &text, values).await
    }

    async fn job_search(self, filter: &JobFilter, after: Option<i64>) -> Result<Search> {
        if !filter.is_narrow() {
            return Ok(Search { bottom: None });
        }
        let ends = self.ends_of(&self.read, "job").await?;
        Ok(ends.map_or(Search { bottom: None }, |ends| Search::below(ends, after, SEARCHED)))
    }

    /// The run from which on the results of jobs count: the run table has no index by job.
    async fn results_above(self, filter: &JobFilter) -> Result<i64> {
        match filter.needs_results() {
            true => Ok(self.runs().newest_run().await? - RECENT_RUN_IDS),
            false => Ok(0),
        }
    }
}

/// The rows of a page and one more. They are cut before anything is joined; see the list of runs.
pub(crate) fn page_rows(backend: DbBackend, filter: &JobFilter, search: Search, above: i64) -> (String, Vec<Value>) {
    let mut conditions = conditions(backend, filter, search, above);
    conditions.add_if("j.id < ?", filter.after);
    let (filter_text, values) = conditions.finish_page(filter.limit);
    (format!("SELECT * FROM job j{filter_text} ORDER BY j.id DESC LIMIT ?"), values)
}

pub(crate) fn found_ids(
    backend: DbBackend,
    filter: &JobFilter,
    search: Search,
    cap: u32,
    above: i64,
) -> (String, Vec<Value>) {
    let (filter_text, mut values) = conditions(backend, filter, search, above).finish();
    values.push(i64::from(cap).into());
    (format!("SELECT j.id FROM job j{filter_text} ORDER BY j.id DESC LIMIT ?"), values)
}

pub(crate) fn count(backend: DbBackend, filter: &JobFilter, cap: u32, above: i64) -> (String, Vec<Value>) {
    let (id, from, mut values) = match filter.sort {
        // Their order does not matter.
        JobSort::NextFire(_) => {
            let (filter_text, values) = conditions(backend, filter, Search { bottom: None }, above).finish();
            ("c.job_id", format!("job_clock c{}", of_clock(&filter_text)), values)
        }
        _ => source(backend, filter, above),
    };
    values.push(i64::from(cap).into());
    (format!("SELECT COUNT(*) FROM (SELECT {id} FROM {from} LIMIT ?) AS found"), values)
}

/// Ids in the order of the filter.
pub(crate) fn sorted_ids(backend: DbBackend, filter: &JobFilter, above: i64) -> (String, Vec<Value>) {
    let (id, from, values) = source(backend, filter, above);
    let order = match filter.sort {
        JobSort::Id => "j.id DESC",
        JobSort::Name => "j.name, j.id",
        // A job's cursor is ahead of the runs that are planned already.
        JobSort::NextFire(_) => "COALESCE(n.at, c.next_fire_at), c.job_id",
        JobSort::LastResult => {
            "CASE WHEN r.state IN ({state.failed}, {state.lost}, {state.unknown}) THEN 0 WHEN r.state = {state.killed} THEN 1 ELSE 2 END, r.id DESC"
        }
    };
    (format!("SELECT {id} FROM {from} ORDER BY {order}"), values)
}

/// The column of the id, and the filtered jobs with what they are sorted by.
fn source(backend: DbBackend, filter: &JobFilter, above: i64) -> (&'static str, String, Vec<Value>) {
    let (filter_text, others) = conditions(backend, filter, Search { bottom: None }, above).finish();
    match filter.sort {
        JobSort::Id | JobSort::Name => ("j.id", format!("job j{filter_text}"), others),
        // Without a filter the jobs are not looked up: SQLite would take ten times as long.
        JobSort::NextFire(now) => {
            let claimed = format!("SELECT job_id, MIN(fire_no) AS at FROM run WHERE {AHEAD} GROUP BY job_id");
            let filter_text = of_clock(&filter_text);
            let from = format!("job_clock c LEFT JOIN ({claimed}) AS n ON n.job_id = c.job_id{filter_text}");
            ("c.job_id", from, [values![now], others].concat())
        }
        JobSort::LastResult => {
            let from = format!(
                "({LAST_RESULTS}) AS l JOIN run r ON r.id = l.last_id JOIN job j ON j.id = l.job_id{filter_text}"
            );
            ("j.id", from, [values![above], others].concat())
        }
    }
}

/// A filter of jobs as one of their cursors.
fn of_clock(filter_text: &str) -> String {
    match filter_text.is_empty() {
        true => String::new(),
        false => format!(" WHERE c.job_id IN (SELECT j.id FROM job j{filter_text})"),
    }
}
