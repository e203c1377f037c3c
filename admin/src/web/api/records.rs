//! Lists of what has happened: alarms, entries of the audit, skipped ranges.

use actix_web::HttpResponse;
use actix_web::web::Json;
use carillon_store::alarm::alarms::{AlarmFilter, AlarmKey};
use carillon_store::audit::list::{AuditFilter, AuditKey};
use carillon_store::{MisfireFilter, MisfireKey};

use super::answer::{Answer, Error};
use super::extract::{Caller, Query, place};
use super::view::{AlarmView, AuditView, List, MisfireView};
use crate::web::audit_export::{self, ExportFormat};
use crate::web::state::Shared;

pub async fn alarms(state: Shared, caller: Caller, query: Query) -> Answer<List<AlarmView, String>> {
    let filter = AlarmFilter {
        apps: caller.visible(),
        ids: vec![],
        kinds: query.words("kind")?,
        job_id: query.id("job_id")?,
        run_id: query.id("run_id")?,
        open: query.flag("open")?,
        escalated: query.flag("escalated")?,
        from: query.time("from")?,
        to: query.time("to")?,
        after: query.after()?.map(|(created_at, id)| AlarmKey { created_at, id }),
        limit: query.limit()?,
    };
    let page = state.store.alarms().list(&filter).await?;
    Ok(Json(List::from_page(page, AlarmView::from, |key| place((key.created_at, key.id)))))
}

pub async fn misfires(state: Shared, caller: Caller, query: Query) -> Answer<List<MisfireView, String>> {
    let filter = MisfireFilter {
        apps: caller.visible(),
        job_id: query.id("job_id")?,
        from: query.time("from")?,
        to: query.time("to")?,
        after: query.after()?.map(|(from_at, job_id)| MisfireKey { from_at, job_id }),
        limit: query.limit()?,
    };
    let page = state.store.runs().misfires(&filter).await?;
    Ok(Json(List::from_page(page, MisfireView::from, |key| place((key.from_at, key.job_id)))))
}

pub async fn audit(state: Shared, caller: Caller, query: Query) -> Answer<List<AuditView, String>> {
    let filter = AuditFilter { limit: query.limit()?, ..audit_filter(&caller, &query)? };
    let page = state.store.audit().list(&filter).await?;
    Ok(Json(List::from_page(page, AuditView::from, |key: AuditKey| key.to_string())))
}

pub async fn export_audit(state: Shared, caller: Caller, query: Query) -> Result<HttpResponse, Error> {
    let format = query.parsed("format", "`csv` or `jsonl`", ExportFormat::from_word)?;
    let format = format.unwrap_or(ExportFormat::JsonLines);
    let with_mark = query.parsed("bom", "`true` or `false`", |word| word.parse().ok())?.unwrap_or(false);
    let filter = audit_filter(&caller, &query)?;
    let place = state.engine.costly.enter(&caller.0).await?;
    Ok(audit_export::answer(&state.store, filter, (format, with_mark), place).await?)
}

fn audit_filter(caller: &Caller, query: &Query) -> Result<AuditFilter, Error> {
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
