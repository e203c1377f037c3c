//! `/maintenance-windows`: recurring times in which the schedules of an app, or of all apps, send nothing.

use actix_web::web::Json;
use carillon_engine::manage::WindowRequest;

use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, request};
use crate::web::api::pauses::app_pauses::app_id;
use crate::web::api::view::{List, MaintenanceWindowView};
use crate::web::state::Shared;

pub async fn list(state: Shared, caller: Caller) -> Answer<List<MaintenanceWindowView>> {
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

pub async fn create(
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

pub async fn end(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.maintenance_windows().end(id.0, &caller.0).await?;
    Ok(NoContent)
}

pub async fn delete(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.maintenance_windows().delete(id.0, &caller.0).await?;
    Ok(NoContent)
}
