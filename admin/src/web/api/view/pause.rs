//! Pauses of apps and of jobs, and maintenance windows.

use carillon_engine::manage::PlannedWindow;
use carillon_scheduler::Millis;
use carillon_store::JobPause;
use carillon_store::app::pauses::Pause;

use super::time::Time;
use super::view_macro::{IntoView, view};

view! {
    /// A pause of an app, or of all apps, that is in force or ahead
    pub struct PauseView as Pause from pause: Pause {
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
        from: Time = Time(pause.starts_at),
        /// When it ends by itself; null: it lasts until a person ends it
        until: Option<Time> = pause.ends_at.map(Time),
        /// When it was made
        created_at: Time,
    }
}

view! {
    /// Why a job is paused, as far as it was noted
    pub struct JobPauseView as JobPause from pause: JobPause {
        /// Why; empty: nothing was noted
        note: String,
        /// Who paused it; `carillon`: the server, after failures in a row
        author: String,
        /// Since when
        from: Time = Time(pause.paused_at),
        /// When it is resumed; null: the job stays paused until a person resumes it
        until: Option<Time> = pause.ends_at.map(Time),
    }
}

view! {
    /// A recurring pause of an app, or of all apps
    pub struct MaintenanceWindowView as MaintenanceWindow from planned: PlannedWindow {
        /// Its number
        #[schema(minimum = 1)]
        id: i64 = planned.window.id,
        /// The app's name; null: all apps
        app: Option<String> = planned.window.app,
        /// Why
        note: String = planned.window.note,
        /// Who made it
        author: String = planned.window.author,
        /// When it begins: `second minute hour day-of-month month day-of-week [year]`
        expression: String = planned.window.expression,
        /// The zone of the expression
        timezone: String = planned.window.timezone,
        /// How long it lasts each time, in elapsed time
        minutes: i32 = planned.window.minutes,
        /// The one in force, if there is one, and the next ones
        times: Vec<WindowTime> = planned.times.into_view(),
        /// When it was made
        created_at: Time = Time(planned.window.created_at),
    }
}

view! {
    /// When a maintenance window begins and ends
    struct WindowTime as WindowTime from times: (Millis, Millis) {
        /// Its begin
        from: Time = Time(times.0),
        /// Its end
        until: Time = Time(times.1),
    }
}
