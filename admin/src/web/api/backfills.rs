//! Backfills: runs for instants of the past.

use actix_web::Either;
use actix_web::web::Json;
use carillon_engine::manage::BackfillRange;

use super::answer::{Accepted, Answer, Error};
use super::extract::{Body, Caller, Id, Query, request};
use super::view::{BackfillInstants, BackfillView, List, Time};
use crate::web::state::Shared;

request! {
    /// A range of the past
    pub struct BackfillRequest: "{\"from\",\"to\",\"max_concurrent\"?,\"dry_run\"?}" {
        /// The first moment
        from: Time,
        /// The end, itself excluded; not in the future. At most 100000 instants lie between
        to: Time,
        /// How many backfill runs of the job may be open at the same time
        #[schema(minimum = 1, maximum = 100, default = 1)]
        max_concurrent: Option<i32>,
        /// Only list the instants
        #[schema(default = false)]
        dry_run: Option<bool>,
    }
}

/// The instants of a dry run, or the new backfill.
type ListedOrAccepted = Either<Json<BackfillInstants>, Accepted<BackfillView>>;

pub async fn create(
    state: Shared,
    id: Id,
    caller: Caller,
    body: Body<BackfillRequest>,
) -> Result<ListedOrAccepted, Error> {
    let request = body.0;
    let range = BackfillRange { job_id: id.0, from_at: request.from.0, to_at: request.to.0 };
    if request.dry_run == Some(true) {
        let (instants, made) = state.engine.backfills().instants(range, &caller.0).await?;
        return Ok(Either::Left(Json(BackfillInstants::new(instants, made.len()))));
    }
    let made = state.engine.backfills().create(range, request.max_concurrent.unwrap_or(1), &caller.0).await?;
    Ok(Either::Right(Accepted::at(format!("/api/v1/backfills/{}", made.id), made)))
}

pub async fn list(state: Shared, id: Id, query: Query) -> Answer<List<BackfillView, i64>> {
    let (after, limit) = (query.id("after")?, query.limit()?);
    state.engine.jobs().get(id.0).await?;
    let page = state.store.backfills(id.0, after, limit).await?;
    Ok(Json(List::from_page(page, BackfillView::from, |id| id)))
}

pub async fn get(state: Shared, id: Id) -> Answer<BackfillView> {
    let found = state.store.backfill(id.0).await?;
    let missing = || Error::not_found(format!("there is no backfill {}", id.0));
    Ok(Json(BackfillView::from(found.ok_or_else(missing)?)))
}

pub async fn cancel(state: Shared, id: Id, caller: Caller) -> Answer<BackfillView> {
    Ok(Json(state.engine.backfills().cancel(id.0, &caller.0).await?.into()))
}
