//! Lists of jobs, newest first, page by page.

use crate::db::sql::filter::{Conditions, Page, page_and_one};
use crate::db::sql::template::like_containing;
use crate::error::Result;
use crate::job::stored_job::Job;
use crate::store::Store;

/// Which jobs; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFilter {
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
    /// Jobs with a smaller id than this.
    pub after: Option<i64>,
    /// 1 to 1000.
    pub limit: u32,
}

impl Store {
    pub async fn jobs(&self, filter: &JobFilter) -> Result<Page<Job>> {
        let mut conditions = conditions(filter);
        conditions.add_if("j.id < ?", filter.after);
        let (filter_text, mut values) = conditions.finish();
        let (limit, one_more) = page_and_one(filter.limit);
        values.push(one_more);
        // The page is cut before anything is joined; see the list of runs.
        let from = format!("(SELECT * FROM job j{filter_text} ORDER BY j.id DESC LIMIT ?) AS j");
        let jobs = self.select_jobs(&self.read, &from, values).await?;
        let mut page = Page::cut(jobs, limit, |job: &Job| job.id);
        self.add_due_times(&mut page.items).await?;
        Ok(page)
    }

    /// How many jobs the filter finds, on all its pages; `cap` means that many or more.
    pub async fn count_jobs(&self, filter: &JobFilter, cap: u32) -> Result<u32> {
        let (filter_text, mut values) = conditions(filter).finish();
        values.push(i64::from(cap).into());
        let text = format!("SELECT COUNT(*) FROM (SELECT j.id FROM job j{filter_text} LIMIT ?) AS found");
        let count: i64 = self.tuple(&self.read, &text, values).await?.unwrap_or(0);
        Ok(count as u32)
    }
}

fn conditions(filter: &JobFilter) -> Conditions {
    let mut conditions = Conditions::default();
    if let Some(text) = filter.text.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        add_text(&mut conditions, text);
    }
    conditions.add_if("j.name = ?", filter.name.as_deref());
    conditions.among("j.id", filter.ids.iter().copied());
    conditions.add_if("j.app_id = (SELECT id FROM app WHERE name = ?)", filter.app.as_deref());
    conditions.add_if("j.enabled = ?", filter.enabled);
    conditions.add_if("j.schedule_kind = ?", filter.kind.as_deref());
    conditions
}

fn add_text(conditions: &mut Conditions, text: &str) {
    let (lower, as_is) = (like_containing(&text.to_lowercase()), like_containing(text));
    let mut either = vec![];
    let mut values: Vec<sea_orm::Value> = vec![];
    for column in ["j.name", "j.handler"] {
        either.push(format!("LOWER({column}) LIKE ? ESCAPE '!' OR {column} LIKE ? ESCAPE '!'"));
        values.extend([lower.clone().into(), as_is.clone().into()]);
    }
    if let Ok(id) = text.parse::<i64>() {
        either.push("j.id = ?".to_owned());
        values.push(id.into());
    }
    conditions.add(format!("({})", either.join(" OR ")), values);
}
