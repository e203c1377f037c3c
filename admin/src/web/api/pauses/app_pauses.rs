//! `/pauses`: times in which the schedules of an app, or of all apps, send nothing.

use actix_web::web::Json;
use carillon_engine::manage::PauseRequest;

use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, request};
use crate::web::api::view::{List, PauseView, Time};
use crate::web::state::{Shared, State};

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
pub async fn app_id(state: &State, caller: &Caller, name: Option<&str>) -> Result<Option<i64>, Error> {
    let Some(name) = name else {
        return Ok(None);
    };
    let found = state.store.app_by_name(name).await?;
    let found = found.filter(|app| caller.may_name(app));
    Ok(Some(found.ok_or_else(|| Error::field("app", format!("there is no app {name:?}")))?.id))
}

pub async fn end(state: Shared, id: Id, caller: Caller) -> Result<NoContent, Error> {
    state.engine.pauses().end(id.0, &caller.0).await?;
    Ok(NoContent)
}
