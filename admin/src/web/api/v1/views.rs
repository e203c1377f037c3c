//! What is answered: apps, jobs, runs, misfires and alarms in JSON.

mod ahead;
mod explained;

use carillon_scheduler::{Calendar, Cause, JobDraft, Millis, RunState};
use serde::Serialize;

use super::choice::ChoiceJson;
use super::time;
use crate::pipeline::{Kill, LogPage};
use crate::store::alarm::AlarmRow;
use crate::store::choice::Choice;
use crate::store::{App, CalendarVersion, Job, Misfire, NamedCalendar, Page, RunParams, RunView};

pub use ahead::{ForecastJson, PreviewJson};
pub use explained::ExplanationJson;

/// A list, and where it goes on.
#[derive(Serialize)]
pub struct List<T, K> {
    items: Vec<T>,
    next: Option<K>,
}

impl<T, K> List<T, K> {
    pub fn whole(items: impl IntoIterator<Item = T>) -> Self {
        Self { items: items.into_iter().collect(), next: None }
    }

    pub fn of<S, P>(page: Page<S, P>, item: fn(S) -> T, key: impl FnOnce(P) -> K) -> Self {
        Self { items: page.items.into_iter().map(item).collect(), next: page.next.map(key) }
    }
}

#[derive(Serialize)]
pub struct AppJson {
    id: i64,
    name: String,
    title: String,
    #[serde(serialize_with = "time::required")]
    created_at: Millis,
}

impl From<App> for AppJson {
    fn from(App { id, name, title, created_at }: App) -> Self {
        Self { id, name, title, created_at }
    }
}

#[derive(Serialize)]
pub struct CalendarJson {
    id: i64,
    #[serde(flatten)]
    calendar: Calendar,
    version: i64,
    jobs: i64,
    #[serde(serialize_with = "time::required")]
    created_at: Millis,
    #[serde(serialize_with = "time::required")]
    updated_at: Millis,
}

impl From<NamedCalendar> for CalendarJson {
    fn from(calendar: NamedCalendar) -> Self {
        Self {
            id: calendar.id,
            calendar: Calendar::clone(&calendar.calendar),
            version: calendar.version,
            jobs: calendar.jobs,
            created_at: calendar.created_at,
            updated_at: calendar.updated_at,
        }
    }
}

#[derive(Serialize)]
pub struct CalendarVersionJson {
    #[serde(flatten)]
    calendar: Calendar,
    version: i64,
    actor: String,
    #[serde(serialize_with = "time::required")]
    created_at: Millis,
}

impl From<CalendarVersion> for CalendarVersionJson {
    fn from(version: CalendarVersion) -> Self {
        Self {
            calendar: Calendar::clone(&version.calendar),
            version: version.version,
            actor: version.actor,
            created_at: version.created_at,
        }
    }
}

#[derive(Serialize)]
pub struct JobJson {
    id: i64,
    #[serde(flatten)]
    draft: JobDraft,
    #[serde(serialize_with = "time::optional")]
    next_fire_at: Option<Millis>,
    paused_reason: Option<String>,
    spread_offset_seconds: i32,
    fires_left: Option<i32>,
    revision: i64,
    #[serde(serialize_with = "time::required")]
    created_at: Millis,
    #[serde(serialize_with = "time::required")]
    updated_at: Millis,
}

impl From<Job> for JobJson {
    fn from(job: Job) -> Self {
        Self {
            id: job.id,
            draft: job.draft,
            next_fire_at: job.next_fire_at,
            paused_reason: job.paused_reason,
            spread_offset_seconds: job.spread_offset,
            fires_left: job.fires_left,
            revision: job.revision,
            created_at: job.created_at,
            updated_at: job.updated_at,
        }
    }
}

#[derive(Serialize)]
pub struct RunJson {
    id: i64,
    job_id: i64,
    app: String,
    job: Option<String>,
    cause: Cause,
    state: RunState,
    #[serde(serialize_with = "time::required")]
    scheduled_at: Millis,
    #[serde(serialize_with = "time::required")]
    due_at: Millis,
    #[serde(serialize_with = "time::optional")]
    sent_at: Option<Millis>,
    #[serde(serialize_with = "time::optional")]
    finished_at: Option<Millis>,
    address: Option<String>,
    attempt: i32,
    shard_index: i32,
    shard_total: i32,
    /// Of a child's run: the first run of the parent's fire.
    parent_run_id: Option<i64>,
    #[serde(serialize_with = "time::optional")]
    kill_asked_at: Option<Millis>,
    /// It had not been sent for too long.
    #[serde(serialize_with = "time::optional")]
    flagged_at: Option<Millis>,
    message: String,
    /// Of its job, as the run was sent.
    revision: Option<i64>,
    /// Told with a single run only.
    params: Option<String>,
    /// Told with a single run only.
    choice: Option<ChoiceJson>,
}

impl RunJson {
    pub fn with(self, params: &RunParams, choice: Option<Choice>) -> Self {
        Self { params: params.text().map(str::to_owned), choice: choice.map(ChoiceJson::from), ..self }
    }
}

impl From<RunView> for RunJson {
    fn from(run: RunView) -> Self {
        Self {
            message: run.message(),
            revision: run.revision,
            params: None,
            choice: None,
            id: run.id,
            job_id: run.job_id,
            app: run.app,
            job: run.job,
            cause: run.cause,
            state: run.state,
            scheduled_at: run.scheduled_at,
            due_at: run.due_at,
            sent_at: run.sent_at,
            finished_at: run.finished_at,
            address: run.address,
            attempt: run.attempt,
            shard_index: run.part,
            shard_total: run.parts,
            parent_run_id: (run.cause == Cause::Child).then_some(run.fire_no),
            kill_asked_at: run.kill_asked_at,
            flagged_at: run.flagged_at,
        }
    }
}

#[derive(Serialize)]
pub struct MisfireJson {
    job_id: i64,
    #[serde(serialize_with = "time::required")]
    from: Millis,
    #[serde(serialize_with = "time::required")]
    to: Millis,
    count: i32,
    policy: &'static str,
    reason: &'static str,
}

impl From<Misfire> for MisfireJson {
    fn from(misfire: Misfire) -> Self {
        Self {
            job_id: misfire.job_id,
            from: misfire.from_at,
            to: misfire.to_at,
            count: misfire.count,
            policy: misfire.policy.as_str(),
            reason: misfire.reason.as_str(),
        }
    }
}

#[derive(Serialize)]
pub struct AlarmJson {
    id: i64,
    kind: &'static str,
    job_id: Option<i64>,
    run_id: Option<i64>,
    message: String,
    #[serde(serialize_with = "time::required")]
    created_at: Millis,
    open: bool,
    level: i16,
    #[serde(serialize_with = "time::optional")]
    escalated_at: Option<Millis>,
    #[serde(serialize_with = "time::optional")]
    closed_at: Option<Millis>,
}

impl From<AlarmRow> for AlarmJson {
    fn from(row: AlarmRow) -> Self {
        Self {
            id: row.id,
            kind: row.alarm.kind.as_str(),
            job_id: row.alarm.job_id,
            run_id: row.alarm.run_id,
            message: row.alarm.text,
            created_at: row.created_at,
            open: row.is_open,
            level: row.level,
            escalated_at: row.escalated_at,
            closed_at: row.closed_at,
        }
    }
}

#[derive(Serialize)]
pub struct KillJson {
    outcome: &'static str,
}

/// What a kill can come to.
pub const KILLS: [&str; 3] = ["cancelled", "asked", "already_ended"];

impl From<Kill> for KillJson {
    fn from(kill: Kill) -> Self {
        let outcome = match kill {
            Kill::Cancelled => KILLS[0],
            Kill::Asked => KILLS[1],
            Kill::AlreadyEnded => KILLS[2],
        };
        Self { outcome }
    }
}

#[derive(Serialize)]
pub struct LogJson {
    from: i32,
    to: i32,
    content: String,
    end: bool,
}

impl From<LogPage> for LogJson {
    fn from(LogPage { from, to, content, end }: LogPage) -> Self {
        Self { from, to, content, end }
    }
}
