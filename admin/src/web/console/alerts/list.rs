//! `GET /alerts`

use actix_web::web;
use askama::Template;
use carillon_store::alert::alerts::{Alert, AlertFilter};
use carillon_store::alert::deliveries::DeliveryFilter;
use serde::Deserialize;

use crate::web::console::alerts::message_line::{DeliveryLine, lines};
use crate::web::console::alerts::words::event_text;
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;

const PAGE: u32 = 50;
/// Messages of all alerts that the page shows.
const MESSAGES: u32 = 20;

#[derive(Template)]
#[template(path = "alerts/list.html")]
struct Page {
    context: PageContext,
    open: Vec<Alert>,
    past: Vec<Alert>,
    next: Option<String>,
    messages: Vec<DeliveryLine>,
}

impl Page {
    /// The key of the title, and the name of the table for tests.
    fn lists(&self) -> [(&'static str, &'static str, &[Alert]); 2] {
        [("alerts-open", "alerts-open", &self.open), ("alerts-over", "alerts-past", &self.past)]
    }

    fn event(&self, alert: &Alert) -> String {
        event_text(&self.context, &alert.message)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ListQuery {
    after: Option<String>,
}

pub async fn list(state: Shared, context: PageContext, query: web::Query<ListQuery>) -> PageResult {
    let filter =
        |open| AlertFilter { apps: context.visible(), open: Some(open), limit: PAGE, ..AlertFilter::default() };
    let after = query.after.as_deref().and_then(|text| {
        let (last_at, id) = text.split_once('-')?;
        Some((last_at.parse().ok()?, id.parse().ok()?))
    });
    let open = state.store.alerts(&AlertFilter { limit: 1000, ..filter(true) }).await?.items;
    let past = state.store.alerts(&AlertFilter { after, ..filter(false) }).await?;
    let sent = DeliveryFilter { apps: context.visible(), limit: MESSAGES, ..DeliveryFilter::default() };
    let messages = lines(context.language, state.store.deliveries(&sent).await?.items);
    let next = past.next.map(|(last_at, id)| format!("{last_at}-{id}"));
    Ok(show(&Page { open, past: past.items, next, messages, context }))
}
