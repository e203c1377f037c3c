//! Lists of jobs, newest first, page by page.

use sea_orm::{DbBackend, Value};

use crate::db::sql::filter::{Conditions, Page, Search, page_and_one};
use crate::db::sql::template::like_containing;
use crate::error::Result;
use crate::job::stored_job::Job;
use crate::people::grants::VisibleApps;
use crate::store::Store;

/// Which jobs; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only those of these apps.
    pub apps: VisibleApps,
    /// Part of the name or the handler, in any case; or the whole id.
    pub text: Option<String>,
    /// The whole name.
    pub name: Option<String>,
    /// One of these; empty: any.
    pub ids: Vec<i64>,
    /// The app's name.
    pub app: Option<String>,
    pub enabled: Option<bool>,
    /// The schedule's kind: `cron`, `fixed_rate`, `none`.
    pub kind: Option<String>,
    /// The name of a calendar that their schedules use.
    pub calendar: Option<String>,
    /// Jobs with a smaller id than this.
    pub after: Option<i64>,
    /// 1 to 1000.
    pub limit: u32,
}

impl JobFilter {
    /// Whether a page of it may lie far back. An app's jobs and paused ones have an index; a name is to be found wherever it is.
    fn is_narrow(&self) -> bool {
        self.name.is_none() && (self.text.is_some() || self.kind.is_some())
    }
}

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

impl Store {
    /// Newest first. A filter looks at 200,000 ids for one page, which may find none of many.
    pub async fn jobs(&self, filter: &JobFilter) -> Result<Page<Job>> {
        let search = self.job_search(filter, filter.after).await?;
        let (rows, values) = page_rows(self.backend, filter, search);
        self.job_page(filter, search, &format!("({rows}) AS j"), values).await
    }

    /// The same with a count up to `cap`: one walk over the jobs for both.
    pub async fn counted_jobs(&self, filter: &JobFilter, cap: u32) -> Result<CountedJobs> {
        let search = self.job_search(filter, None).await?;
        let found = self.found_jobs(filter, search, cap).await?;
        let count = found.len() as u32;
        let is_cut = count >= cap || search.bottom.is_some();
        let page = match filter.after {
            Some(_) if is_cut => self.jobs(filter).await?,
            after => {
                let (limit, _) = page_and_one(filter.limit);
                let behind = found.iter().filter(|id| after.is_none_or(|after| **id < after));
                let ids: Vec<i64> = behind.take(limit as usize + 1).copied().collect();
                let from = "(SELECT * FROM job WHERE id IN ({ids})) AS j";
                self.job_page(filter, search, from, values![self.ids(&ids)]).await?
            }
        };
        Ok(CountedJobs { page, count, is_cut })
    }

    /// From the rows of one page and one more, as a table `j`.
    async fn job_page(&self, filter: &JobFilter, search: Search, from: &str, values: Vec<Value>) -> Result<Page<Job>> {
        let (limit, _) = page_and_one(filter.limit);
        let jobs = self.select_jobs(&self.read, from, values).await?;
        let mut page = Page::cut(jobs, limit, |job: &Job| job.id);
        self.add_due_times(&mut page.items).await?;
        Ok(search.complete(page))
    }

    /// How many jobs the filter finds; `cap` means that many or more.
    pub async fn count_jobs(&self, filter: &JobFilter, cap: u32) -> Result<u32> {
        let (text, values) = count(self.backend, filter, cap);
        let count: i64 = self.tuple(&self.read, &text, values).await?.unwrap_or(0);
        Ok(count as u32)
    }

    /// The newest `cap` of those that a filter finds, wherever its page begins.
    async fn found_jobs(&self, filter: &JobFilter, search: Search, cap: u32) -> Result<Vec<i64>> {
        let (text, values) = found_ids(self.backend, filter, search, cap);
        self.tuples(&self.read, &text, values).await
    }

    async fn job_search(&self, filter: &JobFilter, after: Option<i64>) -> Result<Search> {
        if !filter.is_narrow() {
            return Ok(Search { bottom: None });
        }
        let ends = self.ends_of(&self.read, "job").await?;
        Ok(ends.map_or(Search { bottom: None }, |ends| Search::below(ends, after, SEARCHED)))
    }
}

/// The rows of a page and one more. They are cut before anything is joined; see the list of runs.
pub(crate) fn page_rows(backend: DbBackend, filter: &JobFilter, search: Search) -> (String, Vec<Value>) {
    let mut conditions = conditions(backend, filter, search);
    conditions.add_if("j.id < ?", filter.after);
    let (filter_text, mut values) = conditions.finish();
    values.push(page_and_one(filter.limit).1);
    (format!("SELECT * FROM job j{filter_text} ORDER BY j.id DESC LIMIT ?"), values)
}

pub(crate) fn found_ids(backend: DbBackend, filter: &JobFilter, search: Search, cap: u32) -> (String, Vec<Value>) {
    let (filter_text, mut values) = conditions(backend, filter, search).finish();
    values.push(i64::from(cap).into());
    (format!("SELECT j.id FROM job j{filter_text} ORDER BY j.id DESC LIMIT ?"), values)
}

pub(crate) fn count(backend: DbBackend, filter: &JobFilter, cap: u32) -> (String, Vec<Value>) {
    let (filter_text, mut values) = conditions(backend, filter, Search { bottom: None }).finish();
    values.push(i64::from(cap).into());
    (format!("SELECT COUNT(*) FROM (SELECT j.id FROM job j{filter_text} LIMIT ?) AS found"), values)
}

fn conditions(backend: DbBackend, filter: &JobFilter, search: Search) -> Conditions {
    let mut conditions = Conditions::default();
    conditions.visible(&filter.apps, "j.app_id");
    if let Some(text) = filter.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        add_text(&mut conditions, backend, text);
    }
    conditions.add_if("j.name = ?", filter.name.as_deref());
    conditions.among("j.id", filter.ids.iter().copied());
    conditions.add_if("j.app_id = (SELECT id FROM app WHERE name = ?)", filter.app.as_deref());
    match filter.enabled {
        Some(true) => conditions.add("j.enabled = TRUE", []),
        // The words of the index `job_paused`.
        Some(false) => conditions.add("j.enabled = FALSE", []),
        None => {}
    }
    conditions.add_if(kind_is(backend), filter.kind.as_deref());
    conditions.add_if(
        "j.id IN (SELECT u.job_id FROM job_calendar u JOIN calendar c ON c.id = u.calendar_id WHERE c.name = ?)",
        filter.calendar.as_deref(),
    );
    conditions.add_if("j.id >= ?", search.bottom);
    conditions
}

/// Without statistics SQLite would look up and sort all jobs of a kind, which may be nearly all there are.
fn kind_is(backend: DbBackend) -> &'static str {
    match backend {
        DbBackend::Sqlite => "+j.schedule_kind = ?",
        _ => "j.schedule_kind = ?",
    }
}

/// Part of the name or the handler in any case.
fn add_text(conditions: &mut Conditions, backend: DbBackend, text: &str) {
    let (lower, as_is) = (like_containing(&text.to_lowercase()), like_containing(text));
    let mut either = vec![];
    let mut values: Vec<Value> = vec![];
    for column in ["j.name", "j.handler"] {
        match backend {
            // The quick ways to disregard the case of ASCII letters.
            DbBackend::Sqlite if text.is_ascii() => either.push(format!("{column} LIKE ? ESCAPE '!'")),
            DbBackend::Postgres if text.is_ascii() => {
                either.push(format!("LOWER({column} COLLATE \"C\") LIKE ? ESCAPE '!'"));
            }
            _ => {
                either.push(format!("LOWER({column}) LIKE ? ESCAPE '!' OR {column} LIKE ? ESCAPE '!'"));
                values.push(lower.clone().into());
                values.push(as_is.clone().into());
                continue;
            }
        }
        values.push(lower.clone().into());
    }
    if let Ok(id) = text.parse::<i64>() {
        either.push("j.id = ?".to_owned());
        values.push(id.into());
    }
    conditions.add(format!("({})", either.join(" OR ")), values);
}
