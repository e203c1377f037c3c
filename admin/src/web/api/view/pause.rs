//! Pauses of apps and of jobs, and maintenance windows.

use carillon_engine::manage::PlannedWindow;
use carillon_store::JobPause;
use carillon_store::app::pauses::Pause;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;

/// A pause of an app, or of all apps, that is in force or ahead
#[derive(Serialize, ToSchema)]
#[schema(as = Pause)]
pub struct PauseView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// The app's name; null: all apps
    app: Option<String>,
    /// Why
    note: String,
    /// Who made it
    author: String,
    /// When it begins or has begun
    from: Time,
    /// When it ends by itself; null: it lasts until a person ends it
    until: Option<Time>,
    /// When it was made
    created_at: Time,
}

impl From<Pause> for PauseView {
    fn from(pause: Pause) -> Self {
        Self {
            id: pause.id,
            app: pause.app,
            note: pause.note,
            author: pause.author,
            from: Time(pause.starts_at),
            until: pause.ends_at.map(Time),
            created_at: Time(pause.created_at),
        }
    }
}

/// Why a job is paused, as far as it was noted
#[derive(Serialize, ToSchema)]
#[schema(as = JobPause)]
pub struct JobPauseView {
    /// Why; empty: nothing was noted
    note: String,
    /// Who paused it; `carillon`: the server, after failures in a row
    author: String,
    /// Since when
    from: Time,
    /// When it is resumed; null: the job stays paused until a person resumes it
    until: Option<Time>,
}

impl From<JobPause> for JobPauseView {
    fn from(pause: JobPause) -> Self {
        let JobPause { note, author, paused_at, ends_at } = pause;
        Self { note, author, from: Time(paused_at), until: ends_at.map(Time) }
    }
}

/// A recurring pause of an app, or of all apps
#[derive(Serialize, ToSchema)]
#[schema(as = MaintenanceWindow)]
pub struct MaintenanceWindowView {
    /// Its number
    #[schema(minimum = 1)]
    id: i64,
    /// The app's name; null: all apps
    app: Option<String>,
    /// Why
    note: String,
    /// Who made it
    author: String,
    /// When it begins: `second minute hour day-of-month month day-of-week [year]`
    expression: String,
    /// The zone of the expression
    timezone: String,
    /// How long it lasts each time, in elapsed time
    minutes: i32,
    /// The one in force, if there is one, and the next ones
    times: Vec<WindowTime>,
    /// When it was made
    created_at: Time,
}

/// When a maintenance window begins and ends
#[derive(Serialize, ToSchema)]
struct WindowTime {
    /// Its begin
    from: Time,
    /// Its end
    until: Time,
}

impl From<PlannedWindow> for MaintenanceWindowView {
    fn from(PlannedWindow { window, times }: PlannedWindow) -> Self {
        let times = times.into_iter().map(|(from, until)| WindowTime { from: Time(from), until: Time(until) });
        Self {
            id: window.id,
            app: window.app,
            note: window.note,
            author: window.author,
            expression: window.expression,
            timezone: window.timezone,
            minutes: window.minutes,
            times: times.collect(),
            created_at: Time(window.created_at),
        }
    }
}
