//! `GET /alerts`: the alerts that match a filter, those that are not over first.

use actix_web::web::Query;
use askama::Template;
use carillon_accounts::policy::{self, Action, Object};
use carillon_store::App;
use carillon_store::alert::alerts::{Alert, AlertFilter, AlertState};
use carillon_store::alert::deliveries::DeliveryFilter;
use carillon_store::alert::rules::AlertRule;

use crate::web::console::alerts::bulk::ACTIONS;
use crate::web::console::alerts::message_line::{DeliveryLine, lines};
use crate::web::console::alerts::words::{KINDS, event_text, kind_label};
use crate::web::console::filters::{WrongFilters, check_app, given, list_query, read, render_list};
use crate::web::page::{PageContext, PageError, PageResult};
use crate::web::state::{Shared, State};

const PAGE: u32 = 50;
/// Messages of all alerts that the page shows.
const MESSAGES: u32 = 20;

#[derive(Template)]
#[template(path = "alerts/list.html")]
struct Page {
    context: PageContext,
    query: ListQuery,
    wrong: WrongFilters,
    apps: Vec<App>,
    rules: Vec<AlertRule>,
    open: Vec<Alert>,
    past: Vec<Alert>,
    next_open: Option<String>,
    next: Option<String>,
    messages: Vec<DeliveryLine>,
}

/// One of the two tables.
struct AlertTable<'a> {
    /// The key of the title, and the name of the table for tests.
    title: &'static str,
    id: &'static str,
    alerts: &'a [Alert],
    /// The address of the alerts behind these, and the key of its text.
    next: &'a Option<String>,
    more: &'static str,
    has_boxes: bool,
}

impl Page {
    fn tables(&self) -> [AlertTable<'_>; 2] {
        let (title, more) = ("alerts-open", "next-page");
        let open = AlertTable {
            title,
            id: title,
            alerts: &self.open,
            next: &self.next_open,
            more,
            has_boxes: self.has_boxes(),
        };
        let (title, more) = ("alerts-over", "alerts-older");
        [open, AlertTable { title, id: "alerts-past", alerts: &self.past, next: &self.next, more, has_boxes: false }]
    }

    fn event(&self, alert: &Alert) -> String {
        event_text(&self.context, &alert.message)
    }

    fn kinds(&self) -> [(&'static str, &'static str); KINDS.len()] {
        KINDS.map(|kind| (kind.as_str(), kind_label(kind)))
    }

    fn states(&self) -> [(&'static str, &'static str); 3] {
        [("open", "alert-is-open"), ("acknowledged", "alert-is-acknowledged"), ("resolved", "alert-is-resolved")]
    }

    fn actions(&self) -> [(&'static str, &'static str); 4] {
        ACTIONS.map(|(word, label, _)| (word, label))
    }

    fn may_handle(&self, alert: &Alert) -> bool {
        let object = alert.app_id.map_or(Object::Installation, Object::App);
        alert.state != AlertState::Resolved && policy::may(&self.context.actor, Action::Operate, object)
    }

    fn has_boxes(&self) -> bool {
        self.open.iter().any(|alert| self.may_handle(alert))
    }

    fn is_moving(&self) -> bool {
        self.messages.iter().any(DeliveryLine::is_pending)
    }
}

list_query! {
    pub struct ListQuery {
        filters: [app, kind, rule, state,],
        /// The last alert of the page before, of those that are over.
        after: Option<String>,
        /// The same of those that are not over.
        open_after: Option<String>,
    }
}

impl ListQuery {
    fn address(&self, name: &'static str, after: &str) -> String {
        self.address_of("/alerts", &[(name, after)], None)
    }

    /// The filter, and what is wrong with it.
    async fn filter(&self, state: &State, context: &PageContext) -> Result<(AlertFilter, WrongFilters), PageError> {
        let mut wrong = vec![];
        let app = given(&self.app);
        check_app(state, context, app.as_deref(), &mut wrong).await?;
        let app_id = match app.filter(|_| wrong.is_empty()) {
            Some(name) => state.store.apps().by_name(&name).await?.map(|app| app.id),
            None => None,
        };
        let kind = read(&mut wrong, "alert-events", &self.kind, "no kind of event", |word| word.parse().ok());
        let is_state = read(&mut wrong, "state", &self.state, "no state of an alert", AlertState::of_word);
        let rule_id = read(&mut wrong, "rule", &self.rule, "no id of a rule", |text| text.parse().ok());
        let filter =
            AlertFilter { apps: context.visible(), app_id, kind, rule_id, state: is_state, ..AlertFilter::default() };
        Ok((filter, wrong))
    }
}

/// The place behind which a page begins.
fn place(text: Option<&str>) -> Option<(i64, i64)> {
    let (last_at, id) = text?.split_once('-')?;
    Some((last_at.parse().ok()?, id.parse().ok()?))
}

pub async fn list(state: Shared, context: PageContext, query: Query<ListQuery>) -> PageResult {
    let query = query.into_inner();
    let (filter, wrong) = query.filter(&state, &context).await?;
    let apps = state.store.apps().list(&context.visible()).await?;
    let rules = state.store.alerts().rules(&context.visible()).await?;
    let sent = DeliveryFilter { apps: context.visible(), limit: MESSAGES, ..DeliveryFilter::default() };
    let messages = lines(&context, state.store.alerts().deliveries(&sent).await?.items);
    let mut page = Page {
        context,
        wrong,
        apps,
        rules,
        open: vec![],
        past: vec![],
        next_open: None,
        next: None,
        messages,
        query: query.clone(),
    };
    if !page.wrong.is_empty() {
        return Ok(render_list(&page, true));
    }
    let mark = |(last_at, id): (i64, i64)| format!("{last_at}-{id}");
    let of = |open: bool, after: Option<&str>| AlertFilter {
        open: Some(open),
        after: place(after),
        limit: PAGE,
        ..filter.clone()
    };
    let open = state.store.alerts().list(&of(true, query.open_after.as_deref())).await?;
    let past = state.store.alerts().list(&of(false, query.after.as_deref())).await?;
    page.next_open = open.next.map(|last| query.address("open_after", &mark(last)));
    page.next = past.next.map(|last| query.address("after", &mark(last)));
    (page.open, page.past) = (open.items, past.items);
    Ok(render_list(&page, false))
}
