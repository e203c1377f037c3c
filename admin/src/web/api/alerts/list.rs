//! `/alerts` and `/alert-deliveries`

use actix_web::web::Json;
use carillon_alerts::manage::AlertAction;
use carillon_store::Page;
use carillon_store::alert::alerts::{AlertFilter, AlertState};
use carillon_store::alert::deliveries::DeliveryFilter;
use utoipa::openapi::ObjectBuilder;

use crate::web::api::alerts::view::{AlertView, DeliveryView};
use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Id, Query, place, request};
use crate::web::api::jobs::{BulkView, action_schema, unknown_action};
use crate::web::api::view::List;
use crate::web::state::{Shared, State};

pub async fn list(state: Shared, caller: Caller, query: Query) -> Answer<List<AlertView, String>> {
    let filter = AlertFilter {
        apps: caller.visible(),
        open: query.flag("open")?,
        state: query.parsed("state", "open, acknowledged or resolved", AlertState::of_word)?,
        app_id: app_id(&state, &caller, query.text("app")?).await?,
        kind: query.word("kind")?,
        rule_id: query.id("rule_id")?,
        after: query.after()?,
        limit: query.limit()?,
    };
    let page = state.store.alerts().list(&filter).await?;
    Ok(Json(List::from_page(page, AlertView::from, place)))
}

pub async fn get(state: Shared, id: Id) -> Answer<AlertView> {
    Ok(Json(find(&state, id.0).await?))
}

request! {
    /// Who takes it over
    pub struct Acknowledgement: "an acknowledgement, such as {\"note\":\"I look at it\"}" {
        /// For the others
        #[serde(default)]
        #[schema(max_length = 500)]
        note: String,
    }
}

pub async fn acknowledge(state: Shared, caller: Caller, id: Id, body: Body<Acknowledgement>) -> Answer<AlertView> {
    let action = AlertAction::Acknowledge { note: body.0.note };
    state.alerts.handle(id.0, &action, &caller.0).await?;
    Ok(Json(find(&state, id.0).await?))
}

const ACTIONS: [&str; 2] = ["acknowledge", "silence"];

request! {
    /// One action for several alerts
    pub struct AlertBulk: "an action, such as {\"action\":\"silence\",\"ids\":[12,15],\"seconds\":3600}" {
        #[schema(schema_with = actions)]
        action: String,
        /// These alerts
        #[schema(min_items = 1, max_items = 1_000)]
        ids: Vec<i64>,
        /// Of `acknowledge`: for the others
        #[serde(default)]
        #[schema(max_length = 500)]
        note: String,
        /// Of `silence`: there is no message for this time
        #[schema(minimum = 60, maximum = 2_592_000)]
        seconds: Option<i64>,
    }
}

fn actions() -> ObjectBuilder {
    action_schema(&ACTIONS)
}

pub async fn bulk(state: Shared, caller: Caller, body: Body<AlertBulk>) -> Answer<BulkView> {
    let AlertBulk { action, ids, note, seconds } = body.0;
    let action = match action.as_str() {
        "acknowledge" => AlertAction::Acknowledge { note },
        "silence" => AlertAction::Silence { seconds: seconds.unwrap_or(0) },
        other => return Err(unknown_action(other, &ACTIONS)),
    };
    Ok(Json(state.alerts.handle_all(&ids, &action, &caller.0).await?.into()))
}

pub async fn deliveries(state: Shared, caller: Caller, query: Query) -> Answer<List<DeliveryView, i64>> {
    let filter = DeliveryFilter {
        apps: caller.visible(),
        alert_id: query.id("alert_id")?,
        channel_id: query.id("channel_id")?,
        after: query.id("after")?,
        limit: query.limit()?,
    };
    let Page { items, next } = state.store.alerts().deliveries(&filter).await?;
    let items = items.into_iter().map(|delivery| DeliveryView::new(delivery, &caller.0)).collect();
    Ok(Json(List::from_page(Page { items, next }, |view| view, |id| id)))
}

/// The id of the app of this name, if the caller sees one.
async fn app_id(state: &State, caller: &Caller, name: Option<String>) -> Result<Option<i64>, Error> {
    match name {
        None => Ok(None),
        Some(name) => Ok(Some(state.engine.apps().named(&name, &caller.0).await?.id)),
    }
}

async fn find(state: &State, id: i64) -> Result<AlertView, Error> {
    let alert = state.store.alerts().get(id).await?;
    alert.map(AlertView::from).ok_or_else(|| Error::not_found(format!("there is no alert {id}")))
}
