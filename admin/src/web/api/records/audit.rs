//! `/audit`

use actix_web::HttpResponse;
use actix_web::web::Json;
use carillon_store::audit::list::{AuditFilter, AuditKey};

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Caller, Query};
use crate::web::api::view::{AuditView, List};
use crate::web::audit_export::{self, ExportFormat};
use crate::web::state::Shared;

pub async fn list(state: Shared, caller: Caller, query: Query) -> Answer<List<AuditView, String>> {
    let filter = AuditFilter { limit: query.limit()?, ..filter(&caller, &query)? };
    let page = state.store.audit_entries(&filter).await?;
    Ok(Json(List::from_page(page, AuditView::from, |key: AuditKey| key.to_string())))
}

pub async fn export(state: Shared, caller: Caller, query: Query) -> Result<HttpResponse, Error> {
    let format = query.parsed("format", "`csv` or `jsonl`", ExportFormat::from_word)?;
    let format = format.unwrap_or(ExportFormat::JsonLines);
    let with_mark = query.parsed("bom", "`true` or `false`", |word| word.parse().ok())?.unwrap_or(false);
    let filter = filter(&caller, &query)?;
    let place = state.engine.costly.enter(&caller.0).await?;
    Ok(audit_export::answer(&state.store, filter, (format, with_mark), place).await?)
}

fn filter(caller: &Caller, query: &Query) -> Result<AuditFilter, Error> {
    Ok(AuditFilter {
        apps: caller.0.grants.administered_apps(),
        actor: query.text("actor")?,
        actions: query.words("action")?,
        object: query.word("object")?,
        object_id: query.id("object_id")?,
        app: query.text("app")?,
        source: query.text("source")?,
        from: query.time("from")?,
        to: query.time("to")?,
        after: query.parsed("after", "give back `next` of the page before", |text| text.parse().ok())?,
        limit: 0,
    })
}
