//! `/misfires`

use actix_web::web::Json;
use carillon_store::{MisfireFilter, MisfireKey};

use crate::web::api::answer::Answer;
use crate::web::api::extract::{Caller, Query};
use crate::web::api::view::{List, MisfireView};
use crate::web::state::Shared;

pub async fn list(state: Shared, caller: Caller, query: Query) -> Answer<List<MisfireView, String>> {
    let filter = MisfireFilter {
        apps: caller.visible(),
        job_id: query.id("job_id")?,
        from: query.time("from")?,
        to: query.time("to")?,
        after: query.parsed("after", "give back `next` of the page before", key)?,
        limit: query.limit()?,
    };
    let page = state.store.misfires(&filter).await?;
    let place = |key: MisfireKey| format!("{}-{}", key.from_at, key.job_id);
    Ok(Json(List::from_page(page, MisfireView::from, place)))
}

fn key(text: &str) -> Option<MisfireKey> {
    let (from_at, job_id) = text.split_once('-')?;
    Some(MisfireKey { from_at: from_at.parse().ok()?, job_id: job_id.parse().ok()? })
}
