//! `/apps/{id}/tokens`: the tokens of an app's executors.

use actix_web::web::Json;

use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, TokenId, request};
use crate::web::api::view::{AppTokenView, AppView, List, NewAppTokenView};
use crate::web::state::Shared;

pub async fn list(state: Shared, id: Id) -> Answer<List<AppTokenView>> {
    let tokens = state.engine.app_tokens().list(id.0).await?;
    Ok(Json(List::whole(tokens.into_iter().map(AppTokenView::from))))
}

request! {
    /// A new token
    pub struct AppTokenRequest: "a token, such as {\"name\":\"2026-11\"}" {
        /// For people
        #[schema(min_length = 1, max_length = 64)]
        name: String,
        /// Days until it expires; without them it lasts until it is revoked
        #[schema(minimum = 1, maximum = 366)]
        days: Option<i64>,
    }
}

pub async fn create(
    state: Shared,
    id: Id,
    caller: Caller,
    body: Body<AppTokenRequest>,
) -> Result<Created<NewAppTokenView>, Error> {
    let AppTokenRequest { name, days } = body.0;
    let (created, token) = state.engine.app_tokens().create(id.0, &name, days, &caller.0).await?;
    Ok(Created::new(NewAppTokenView::new(created, token)))
}

request! {
    /// Which tokens an app accepts
    pub struct AppTokenRule: "which tokens the app accepts, such as {\"own_tokens_only\":true}" {
        /// The token of all apps is not accepted from the app's executors, and not sent to them
        own_tokens_only: bool,
    }
}

pub async fn set_rule(state: Shared, id: Id, caller: Caller, body: Body<AppTokenRule>) -> Answer<AppView> {
    let app = state.engine.app_tokens().set_own_tokens_only(id.0, body.0.own_tokens_only, &caller.0).await?;
    Ok(Json(AppView::from(app)))
}

pub async fn revoke(state: Shared, id: Id, token: TokenId, caller: Caller) -> Result<NoContent, Error> {
    state.engine.app_tokens().revoke(id.0, token.0, &caller.0).await?;
    Ok(NoContent)
}
