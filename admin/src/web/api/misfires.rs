//! `/misfires`

use actix_web::HttpResponse;
use actix_web::web::Data;

use super::error::Error;
use super::extract::Query;
use super::view::{List, MisfireView};
use crate::store::{MisfireFilter, MisfireKey};
use crate::web::state::State;

pub async fn list(state: Data<State>, mut query: Query) -> Result<HttpResponse, Error> {
    let filter = MisfireFilter {
        job_id: query.id("job_id")?,
        from: query.time("from")?,
        to: query.time("to")?,
        after: query.other("after", "give back `next` of the page before", key)?,
        limit: query.limit()?,
    };
    query.finish()?;
    let page = state.store.misfires(&filter).await?;
    let place = |key: MisfireKey| format!("{}-{}", key.from_at, key.job_id);
    Ok(HttpResponse::Ok().json(List::from_page(page, MisfireView::from, place)))
}

fn key(text: &str) -> Option<MisfireKey> {
    let (from_at, job_id) = text.split_once('-')?;
    Some(MisfireKey { from_at: from_at.parse().ok()?, job_id: job_id.parse().ok()? })
}
