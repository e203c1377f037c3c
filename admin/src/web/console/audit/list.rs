//! `GET /audit`: the entries, newest first.

use actix_web::web::Query;
use askama::Template;
use carillon_inspect::explain::action_word;
use carillon_scheduler::{AuditAction, AuditObjectKind};
use carillon_store::App;

use crate::web::console::audit::query::AuditQuery;
use crate::web::console::audit::row::{Row, object_word};
use crate::web::console::filters::{WrongFilters, read_rows, render_list};
use crate::web::locale::Message;
use crate::web::page::{PageContext, PagePlace, PageResult, Pager};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "audit/list.html")]
struct Page {
    context: PageContext,
    query: AuditQuery,
    wrong: WrongFilters,
    apps: Vec<App>,
    actions: &'static [AuditAction],
    objects: &'static [AuditObjectKind],
    rows: Vec<Row>,
    pager: Pager,
}

impl Page {
    fn action(&self, action: &AuditAction) -> Message {
        self.context.t(action_word(*action))
    }

    fn object(&self, object: &AuditObjectKind) -> Message {
        self.context.t(object_word(*object))
    }
}

pub async fn list(
    state: Shared,
    context: PageContext,
    query: Query<AuditQuery>,
    place: Query<PagePlace>,
) -> PageResult {
    let query = query.into_inner();
    let apps = context.actor.grants.administered_apps();
    let (filter, wrong) = query.filter(context.zone, apps.clone());
    let (entries, next) = read_rows(&wrong, state.store.audit().list(&filter)).await?;
    let page = Page {
        rows: entries.into_iter().map(|entry| Row::new(entry, &context)).collect(),
        context,
        wrong,
        apps: state.store.apps().list(&apps).await?,
        actions: AuditAction::ALL,
        objects: AuditObjectKind::ALL,
        pager: Pager::new(&query.address(""), &place, next),
        query,
    };
    Ok(render_list(&page, !page.wrong.is_empty()))
}
