//! `/alarms`

use actix_web::web::Json;
use carillon_store::alarm::alarms::{AlarmFilter, AlarmKey};

use crate::web::api::answer::Answer;
use crate::web::api::extract::{Caller, Query};
use crate::web::api::view::{AlarmView, List};
use crate::web::state::Shared;

pub async fn list(state: Shared, caller: Caller, query: Query) -> Answer<List<AlarmView, String>> {
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
        after: query.parsed("after", "give back `next` of the page before", key)?,
        limit: query.limit()?,
    };
    let page = state.store.alarms(&filter).await?;
    let place = |key: AlarmKey| format!("{}-{}", key.created_at, key.id);
    Ok(Json(List::from_page(page, AlarmView::from, place)))
}

fn key(text: &str) -> Option<AlarmKey> {
    let (created_at, id) = text.split_once('-')?;
    Some(AlarmKey { created_at: created_at.parse().ok()?, id: id.parse().ok()? })
}
