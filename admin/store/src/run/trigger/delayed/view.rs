//! Triggers as people and API clients see them: runs that are scheduled.

use carillon_scheduler::Millis;
use sea_orm::FromQueryResult;

use crate::db::ids;
use crate::db::sql::filter::{Conditions, Page};
use crate::error::Result;
use crate::views::DelayedStore;

/// A run that waits for its time.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct ScheduledRun {
    pub id: i64,
    pub job_id: i64,
    pub app: String,
    pub job: String,
    pub due_at: Millis,
    /// 0: it runs however late it is.
    pub expires_at: Millis,
    pub created_at: Millis,
    /// Given with it in place of the job's own; a list has their beginning.
    pub params: Option<String>,
    /// The executor that it is bound to.
    pub address: Option<String>,
}

/// The place of a scheduled run in the list of its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduledKey {
    pub due_at: Millis,
    pub id: i64,
}

/// Which scheduled runs of a job, by their time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduledFilter {
    pub job_id: i64,
    /// Due at or after this …
    pub from: Option<Millis>,
    /// … and before this.
    pub to: Option<Millis>,
    pub after: Option<ScheduledKey>,
    /// 1 to 1000.
    pub limit: u32,
}

/// Characters of the parameters that a list has of each run.
const LISTED_PARAMS: usize = 200;

const FROM: &str = "FROM delayed_trigger AS d JOIN job j ON j.id = d.job_id JOIN app a ON a.id = j.app_id LEFT JOIN run_input i ON i.run_id = d.id";

/// `params` is what is read of the parameters.
fn select(params: &str) -> String {
    format!(
        "SELECT d.id, d.job_id, a.name AS app, j.name AS job, d.due_at, d.expires_at, d.created_at, {params} AS params, i.address {FROM}"
    )
}

impl DelayedStore<'_> {
    /// A run that is scheduled. None: it never was, or its time has come.
    pub async fn get(self, id: i64) -> Result<Option<ScheduledRun>> {
        self.one(&self.read, &format!("{} WHERE d.id = ?", select("i.params")), values![id]).await
    }

    /// Whether this is the number of a trigger: no run has one of those.
    pub fn is_trigger(id: i64) -> bool {
        id >= ids::DELAYED.first
    }

    /// The last run of a trigger whose time has come, or that was cancelled.
    pub async fn run_of(self, id: i64) -> Result<Option<i64>> {
        let text =
            "SELECT id FROM run WHERE fire_no = ? AND cause = {cause.delayed} ORDER BY part, attempt DESC LIMIT 1";
        self.tuple(&self.read, text, values![id]).await
    }

    /// The app of a trigger or of its run.
    pub(crate) async fn app_of(self, id: i64) -> Result<Option<i64>> {
        let text = "SELECT j.app_id FROM delayed_trigger AS d JOIN job j ON j.id = d.job_id WHERE d.id = ?";
        if let Some(app_id) = self.tuple(&self.read, text, values![id]).await? {
            return Ok(Some(app_id));
        }
        let text =
            "SELECT app_id FROM run WHERE fire_no = ? AND cause = {cause.delayed} ORDER BY part, attempt DESC LIMIT 1";
        self.tuple(&self.read, text, values![id]).await
    }

    /// A page of the scheduled runs of a job, the earliest first, with the beginning of their parameters: 200 characters.
    pub async fn list(self, filter: &ScheduledFilter) -> Result<Page<ScheduledRun, ScheduledKey>> {
        let mut conditions = Conditions::default();
        conditions.add("d.job_id = ?", [filter.job_id.into()]);
        conditions.add_if("d.due_at >= ?", filter.from);
        conditions.add_if("d.due_at < ?", filter.to);
        if let Some(ScheduledKey { due_at, id }) = filter.after {
            conditions.add("d.due_at >= ? AND (d.due_at > ? OR d.id > ?)", [due_at.into(), due_at.into(), id.into()]);
        }
        let (conditions, values) = conditions.finish_page(filter.limit);
        let select = select(&format!("SUBSTR(i.params, 1, {LISTED_PARAMS})"));
        let text = format!("{select}{conditions} ORDER BY d.job_id, d.due_at, d.id LIMIT ?");
        let items: Vec<ScheduledRun> = self.all(&self.read, &text, values).await?;
        Ok(Page::cut(items, filter.limit, |run| ScheduledKey { due_at: run.due_at, id: run.id }))
    }
}
