//! The page of an alert.

use actix_web::web::Path;
use askama::Template;
use carillon_accounts::policy::{self, Action, Object};
use carillon_alerts::manage::AlertAction;
use carillon_engine::manage::Error;
use carillon_store::alert::alerts::{Alert, AlertItem, AlertState};
use carillon_store::alert::deliveries::DeliveryFilter;

use crate::web::access::Caller;
use crate::web::console::alerts::bulk::ACTIONS;
use crate::web::console::alerts::message_line::{DeliveryLine, lines};
use crate::web::console::alerts::words::{event_text, kind_word};
use crate::web::forms::Fields;
use crate::web::page::{PageContext, PageError, PageResult, done, refused, show};
use crate::web::state::Shared;

const ITEMS: u32 = 100;
const MESSAGES: u32 = 100;

#[derive(Template)]
#[template(path = "alerts/page.html")]
struct Page {
    context: PageContext,
    alert: Alert,
    items: Vec<AlertItem>,
    open_items: i64,
    all_items: i64,
    messages: Vec<DeliveryLine>,
    may_operate: bool,
}

impl Page {
    fn title(&self) -> String {
        let named = self.alert.app.as_ref().or(self.alert.rule.as_ref());
        named.cloned().unwrap_or_else(|| self.context.t("alert").to_string())
    }

    fn may_acknowledge(&self) -> bool {
        self.may_operate && self.alert.state == AlertState::Open
    }

    fn silences(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        ACTIONS.into_iter().filter(|(_, _, seconds)| *seconds > 0).map(|(word, label, _)| (word, label))
    }

    fn is_silent(&self) -> Option<&i64> {
        self.alert.silent_until.as_ref().filter(|until| **until > self.context.now)
    }

    fn is_moving(&self) -> bool {
        self.messages.iter().any(DeliveryLine::is_pending)
    }

    fn event(&self, text: &str) -> String {
        event_text(&self.context, text)
    }

    fn kind(&self, item: &AlertItem) -> &'static str {
        kind_word(item.kind)
    }
}

/// `GET /alerts/{id}`
pub async fn page(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let alert = state.store.alerts().get(*id).await?.ok_or_else(|| PageError::Missing("alert".to_owned()))?;
    let items = state.store.alerts().items(alert.id, ITEMS).await?;
    let (open_items, all_items) = state.store.alerts().count_items(alert.id).await?;
    let filter = DeliveryFilter { alert_id: Some(alert.id), limit: MESSAGES, ..DeliveryFilter::default() };
    let messages = lines(&context, state.store.alerts().deliveries(&filter).await?.items);
    let object = alert.app_id.map_or(Object::Installation, Object::App);
    let may_operate = alert.state != AlertState::Resolved && policy::may(&context.actor, Action::Operate, object);
    Ok(show(&Page { context, alert, items, open_items, all_items, messages, may_operate }))
}

/// `POST /alerts/{id}/acknowledge`
pub async fn acknowledge(state: Shared, by: Caller, context: PageContext, id: Path<i64>, fields: Fields) -> PageResult {
    let here = format!("/alerts/{id}");
    let action = AlertAction::Acknowledge { note: fields.get("note").to_owned() };
    match state.alerts.handle(*id, &action, &by.0).await {
        Ok(()) => Ok(done(&here, context.t("alert-is-looked-after"))),
        Err(error @ (Error::Changed(_) | Error::Invalid(_))) => Ok(refused(&here, error)),
        Err(error) => Err(error.into()),
    }
}
