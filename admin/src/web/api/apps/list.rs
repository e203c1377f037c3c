//! `/apps`

use actix_web::HttpResponse;
use actix_web::web::Json;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::web::api::error::{Answer, Error};
use crate::web::api::extract::{Body, Caller, ObjectBody};
use crate::web::api::view::{AppView, List};
use crate::web::state::Shared;

pub async fn list(state: Shared, caller: Caller) -> Answer<List<AppView>> {
    let apps = state.store.apps(&caller.visible()).await?;
    Ok(Json(List::whole(apps.into_iter().map(AppView::from))))
}

/// A new app
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AppRequest {
    /// Letters, digits, `-`, `_`, `.`; the first is a letter or a digit
    #[schema(min_length = 4, max_length = 64)]
    name: String,
    /// For people; the name if left out
    #[schema(min_length = 0, max_length = 64)]
    title: Option<String>,
}

impl ObjectBody for AppRequest {
    const WHAT: &'static str = "an app, such as {\"name\":\"billing\",\"title\":\"Billing\"}";
}

pub async fn create(state: Shared, caller: Caller, body: Body<AppRequest>) -> Result<HttpResponse, Error> {
    let AppRequest { name, title } = body.0;
    let app = state.engine.apps().create(&name, title.as_deref(), &caller.0).await?;
    Ok(HttpResponse::Created().json(AppView::from(app)))
}
