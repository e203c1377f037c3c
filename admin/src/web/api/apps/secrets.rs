//! `/apps/{id}/secrets`: the secrets that requests of HTTP jobs name. No answer has a value.

use actix_web::web::Json;

use crate::web::api::answer::{Answer, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, Name, request};
use crate::web::api::view::{List, SecretView};
use crate::web::state::Shared;

pub async fn list(state: Shared, id: Id) -> Answer<List<SecretView>> {
    let secrets = state.engine.app_secrets().list(id.0).await?;
    Ok(Json(List::whole(secrets.into_iter().map(SecretView::from))))
}

request! {
    /// The value of a secret
    pub struct SecretRequest: "a secret, such as {\"value\":\"…\"}" {
        /// 8 to 4,096 bytes. It is not shown again
        #[schema(min_length = 8, max_length = 4_096)]
        value: String,
    }
}

pub async fn set(
    state: Shared,
    id: Id,
    name: Name,
    caller: Caller,
    body: Body<SecretRequest>,
) -> Result<NoContent, Error> {
    state.engine.app_secrets().set(id.0, &name.0, &body.0.value, &caller.0).await?;
    Ok(NoContent)
}

pub async fn delete(state: Shared, id: Id, name: Name, caller: Caller) -> Result<NoContent, Error> {
    state.engine.app_secrets().delete(id.0, &name.0, &caller.0).await?;
    Ok(NoContent)
}
