//! Backfills: runs for instants of the past.

use actix_web::Either;
use actix_web::web::Json;
use carillon_engine::manage::BackfillRange;
use carillon_scheduler::Millis;
use carillon_store::backfill::backfills::Backfill;
use serde::Serialize;
use utoipa::ToSchema;

use crate::web::api::answer::{Accepted, Answer, Error};
use crate::web::api::extract::{Body, Caller, Id, Query, request};
use crate::web::api::view::{List, Time, view};
use crate::web::state::Shared;

view! {
    /// A backfill; its runs have the cause `backfill`
    pub struct BackfillView as Backfill from backfill: Backfill {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        /// The job
        #[schema(minimum = 1)]
        job_id: i64,
        /// The first moment
        from: Time = Time(backfill.from_at),
        /// The end, itself excluded
        to: Time = Time(backfill.to_at),
        /// How many of its runs may be open at the same time
        #[schema(minimum = 0)]
        max_concurrent: i32,
        /// Instants in the range
        #[schema(minimum = 0)]
        instants: i32,
        /// Runs that it has created
        #[schema(minimum = 0)]
        released: i32,
        /// Instants that had a run already
        #[schema(minimum = 0)]
        skipped: i32,
        #[schema(inline)]
        state: BackfillState = match (backfill.finished_at, backfill.cancelled) { (None, _) => BackfillState::Running, (Some(_), false) => BackfillState::Released, (Some(_), true) => BackfillState::Cancelled, },
        /// When it was requested
        created_at: Time,
        /// When nothing was left to do
        finished_at: Option<Time>,
    }
}

/// `released`: every instant has its run
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum BackfillState {
    Running,
    Released,
    Cancelled,
}

/// What a backfill would run
#[derive(Serialize, ToSchema)]
pub struct BackfillInstants {
    /// Instants in the range
    instants: usize,
    /// How many of them have a run already, from an earlier backfill
    skipped: usize,
    items: Vec<Time>,
}

impl BackfillInstants {
    pub fn new(instants: Vec<Millis>, skipped: usize) -> Self {
        Self { instants: instants.len(), skipped, items: instants.into_iter().map(Time).collect() }
    }
}

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
    let page = state.store.backfills().list(id.0, after, limit).await?;
    Ok(Json(List::from_page(page, BackfillView::from, |id| id)))
}

pub async fn get(state: Shared, id: Id) -> Answer<BackfillView> {
    let found = state.store.backfills().get(id.0).await?;
    let missing = || Error::not_found(format!("there is no backfill {}", id.0));
    Ok(Json(BackfillView::from(found.ok_or_else(missing)?)))
}

pub async fn cancel(state: Shared, id: Id, caller: Caller) -> Answer<BackfillView> {
    Ok(Json(state.engine.backfills().cancel(id.0, &caller.0).await?.into()))
}
