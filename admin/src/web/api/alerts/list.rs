//! `/alerts` and `/alert-deliveries`

use actix_web::web::Json;
use carillon_store::alert::alerts::AlertFilter;
use carillon_store::alert::deliveries::DeliveryFilter;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::web::api::alerts::view::{AlertView, DeliveryView};
use crate::web::api::error::{Answer, Error};
use crate::web::api::extract::{Body, Caller, Id, ObjectBody, Query};
use crate::web::api::view::List;
use crate::web::state::{Shared, State};

pub async fn list(state: Shared, caller: Caller, query: Query) -> Answer<List<AlertView, String>> {
    let filter = AlertFilter {
        apps: caller.visible(),
        open: query.flag("open")?,
        rule_id: query.id("rule_id")?,
        after: query.parsed("after", "give back `next` of the page before", |text| {
            let (last_at, id) = text.split_once('-')?;
            Some((last_at.parse().ok()?, id.parse().ok()?))
        })?,
        limit: query.limit()?,
    };
    let page = state.store.alerts(&filter).await?;
    Ok(Json(List::from_page(page, AlertView::from, |(last_at, id)| format!("{last_at}-{id}"))))
}

pub async fn get(state: Shared, id: Id) -> Answer<AlertView> {
    Ok(Json(find(&state, id.0).await?))
}

/// Who takes it over
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Acknowledgement {
    /// For the others
    #[serde(default)]
    #[schema(max_length = 500)]
    note: String,
}

impl ObjectBody for Acknowledgement {
    const WHAT: &'static str = "an acknowledgement, such as {\"note\":\"I look at it\"}";
}

pub async fn acknowledge(state: Shared, caller: Caller, id: Id, body: Body<Acknowledgement>) -> Answer<AlertView> {
    state.alerts.acknowledge(id.0, &body.0.note, &caller.0).await?;
    Ok(Json(find(&state, id.0).await?))
}

pub async fn deliveries(state: Shared, caller: Caller, query: Query) -> Answer<List<DeliveryView, i64>> {
    let filter = DeliveryFilter {
        apps: caller.visible(),
        alert_id: query.id("alert_id")?,
        channel_id: query.id("channel_id")?,
        after: query.id("after")?,
        limit: query.limit()?,
    };
    let page = state.store.deliveries(&filter).await?;
    Ok(Json(List::from_page(page, DeliveryView::from, |id| id)))
}

async fn find(state: &State, id: i64) -> Result<AlertView, Error> {
    let alert = state.store.alert(id).await?;
    alert.map(AlertView::from).ok_or_else(|| Error::not_found(format!("there is no alert {id}")))
}
