//! `/pauses` and `/maintenance-windows`: times in which the schedules of an app, or of all apps, send nothing.

use actix_web::web::Json;
use carillon_engine::manage::{PauseRequest, PlannedWindow, WindowRequest};
use carillon_scheduler::Millis;
use carillon_store::app::pauses::Pause;

use super::answer::{Answer, Created, Error, NoContent};
use super::extract::{Body, Caller, Id, request};
use super::view::{IntoView, List, Time, view};
use crate::web::state::{Shared, State};

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

pub async fn list(state: Shared, caller: Caller) -> Answer<List<PauseView>> {
    let pauses = state.engine.pauses().list(&caller.0).await?;
    Ok(Json(List::whole(pauses.into_iter().map(PauseView::from))))
}

request! {
    /// A new pause
    pub struct NewPause: "a pause, such as {\"app\":\"billing\",\"note\":\"deployment\",\"until\":\"2026-01-31T18:30:00Z\"}" {
        /// The app's name; all apps if left out
        app: Option<String>,
        /// Why, for the others
        #[schema(min_length = 1, max_length = 500)]
        note: String,
        /// When it begins; now if left out. At most a year ahead
        from: Option<Time>,
        /// When it ends by itself, at most a year ahead; if left out, it lasts until a person ends it
        until: Option<Time>,
    }
}

pub async fn create(state: Shared, caller: Caller, body: Body<NewPause>) -> Result<Created<PauseView>, Error> {
    let NewPause { app, note, from, until } = body.0;
    let app_id = app_id(&state, &caller, app.as_deref()).await?;
    let request = PauseRequest { app_id, note, from: from.map(|time| time.0), until: until.map(|time| time.0) };
    let pause = state.engine.pauses().create(request, &caller.0).await?;
    Ok(Created::new(pause))
}

/// The app of this name, if the caller sees it; without a name, all apps.
async fn app_id(state: &State, caller: &Caller, name: Option<&str>) -> Result<Option<i64>, Error> {
    let Some(name) = name else {
        return Ok(None);
    };
    let found = state.store.apps().by_name(name).await?;
    let found = found.filter(|app| caller.may_name(app));
    Ok(Some(found.ok_or_else(|| Error::field("app", format!("there is no app {name:?}")))?.id))
}

pub async fn end(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.pauses().end(id.0, &caller.0).await?;
    Ok(NoContent)
}

pub async fn list_windows(state: Shared, caller: Caller) -> Answer<List<MaintenanceWindowView>> {
    let windows = state.engine.maintenance_windows().list(&caller.0).await?;
    Ok(Json(List::whole(windows.into_iter().map(MaintenanceWindowView::from))))
}

request! {
    /// A new maintenance window
    pub struct NewMaintenanceWindow: "a maintenance window, such as {\"note\":\"patches\",\"expression\":\"0 0 2 ? * SUN\",\"timezone\":\"Europe/Berlin\",\"minutes\":120}" {
        /// The app's name; all apps if left out
        app: Option<String>,
        /// Why, for the others
        #[schema(min_length = 1, max_length = 500)]
        note: String,
        /// When it begins: `second minute hour day-of-month month day-of-week [year]`
        #[schema(min_length = 1, max_length = 255)]
        expression: String,
        /// The zone of the expression, an IANA name
        #[serde(default = "utc")]
        #[schema(default = "UTC")]
        timezone: String,
        /// How long it lasts each time, in elapsed time
        #[schema(minimum = 1, maximum = 10080)]
        minutes: i64,
    }
}

fn utc() -> String {
    "UTC".to_owned()
}

pub async fn create_window(
    state: Shared,
    caller: Caller,
    body: Body<NewMaintenanceWindow>,
) -> Result<Created<MaintenanceWindowView>, Error> {
    let NewMaintenanceWindow { app, note, expression, timezone, minutes } = body.0;
    let app_id = app_id(&state, &caller, app.as_deref()).await?;
    let request = WindowRequest { app_id, note, expression, timezone, minutes };
    let window = state.engine.maintenance_windows().create(request, &caller.0).await?;
    Ok(Created::new(window))
}

pub async fn end_window(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.maintenance_windows().end(id.0, &caller.0).await?;
    Ok(NoContent)
}

pub async fn delete_window(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.maintenance_windows().delete(id.0, &caller.0).await?;
    Ok(NoContent)
}
