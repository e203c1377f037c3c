//! `/alert-channels`

use actix_web::web::Json;
use carillon_alerts::channel::{ChannelKind, Secrets, Settings};
use carillon_alerts::manage::ChannelDraft;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::web::api::alerts::view::{ChannelMembers, ChannelView};
use crate::web::api::answer::{Answer, Created, Error, NoContent};
use crate::web::api::extract::{Body, Caller, Id, ReadOnly, RequestBody, edited, from_json};
use crate::web::api::view::List;
use crate::web::state::Shared;

const MEMBERS: &str = "name, kind, settings, secrets, all_apps, apps, language, zone, per_hour";

#[derive(ToSchema)]
#[expect(dead_code, reason = "describes another type")]
pub struct ChannelWithSecrets {
    #[serde(flatten)]
    members: ChannelMembers,
    /// `password`; `url`, `secret`; `routing_key`: stored encrypted, and never shown
    #[schema(required = false, value_type = Object)]
    secrets: (),
}

edited!(AlertChannelRequest: "channel" of ChannelWithSecrets, READ_ONLY,
    "a channel, such as {\"name\":\"ops\",\"kind\":\"email\",\"settings\":{\"host\":\"smtp.example.org\",\
        \"from\":\"carillon@example.org\",\"to\":[\"ops@example.org\"]}}",
    "A channel. Secrets that are left out stay as they are; an empty one is removed");

#[derive(Deserialize)]
struct Members {
    name: String,
    kind: ChannelKind,
    #[serde(default)]
    settings: Settings,
    #[serde(default)]
    secrets: Secrets,
    #[serde(default)]
    all_apps: bool,
    #[serde(default)]
    apps: Vec<String>,
    language: Option<String>,
    zone: Option<String>,
    per_hour: Option<i64>,
}

fn draft(body: &mut AlertChannelRequest) -> Result<ChannelDraft, Error> {
    check_members(&body.value, AlertChannelRequest::WHAT, MEMBERS)?;
    // Of an answer: their names.
    if let Some(members) = body.value.as_object_mut() {
        members.retain(|name, given| name != "secrets" || !(given.is_array() || given.is_null()));
    }
    let given: Members = from_json(&body.value)?;
    let usual = ChannelDraft::new(given.name, given.kind);
    Ok(ChannelDraft {
        settings: given.settings,
        secrets: given.secrets,
        all_apps: given.all_apps,
        apps: given.apps,
        language: given.language.unwrap_or(usual.language),
        zone: given.zone.unwrap_or(usual.zone),
        per_hour: given.per_hour.unwrap_or(usual.per_hour),
        ..usual
    })
}

/// A message that was written to the outbox
#[derive(Serialize, ToSchema)]
pub struct TestedChannel {
    /// The delivery in `/alert-deliveries`
    #[schema(minimum = 1)]
    delivery_id: i64,
}

pub async fn list(state: Shared, caller: Caller) -> Answer<List<ChannelView>> {
    let channels = state.alerts.channels(&caller.0).await?;
    Ok(Json(List::whole(channels.into_iter().map(ChannelView::from))))
}

pub async fn get(state: Shared, caller: Caller, id: Id) -> Answer<ChannelView> {
    Ok(Json(state.alerts.channel(id.0, &caller.0).await?.into()))
}

pub async fn create(
    state: Shared,
    caller: Caller,
    mut body: Body<AlertChannelRequest>,
) -> Result<Created<ChannelView>, Error> {
    let channel = state.alerts.create_channel(draft(&mut body.0)?, &caller.0).await?;
    Ok(Created::new(channel))
}

pub async fn update(state: Shared, caller: Caller, id: Id, mut body: Body<AlertChannelRequest>) -> Answer<ChannelView> {
    let draft = draft(&mut body.0)?;
    Ok(Json(state.alerts.update_channel(id.0, draft, body.0.revision, &caller.0).await?.into()))
}

pub async fn delete(state: Shared, caller: Caller, id: Id) -> Result<NoContent, Error> {
    state.alerts.delete_channel(id.0, &caller.0).await?;
    Ok(NoContent)
}

pub async fn test(state: Shared, caller: Caller, id: Id) -> Answer<TestedChannel> {
    let delivery_id = state.alerts.test_channel(id.0, &caller.0).await?;
    Ok(Json(TestedChannel { delivery_id }))
}

/// The members of answers that a request may send back unchanged.
pub(super) const READ_ONLY: ReadOnly = ReadOnly { revision: "revision", ignored: &["id", "updated_at"] };

/// Refuses members that an answer does not have either.
pub(super) fn check_members(value: &Value, what: &str, members: &str) -> Result<(), Error> {
    let Some(given) = value.as_object() else {
        return Err(Error::invalid(format!("the body must be {what} as an object")));
    };
    match given.keys().find(|name| !members.split(", ").any(|member| member == *name)) {
        None => Ok(()),
        Some(name) => {
            let message = format!("there is no member `{name}`; expected one of {members}");
            Err(Error::field(name.as_str(), message))
        }
    }
}
