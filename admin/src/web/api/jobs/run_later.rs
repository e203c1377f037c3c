//! Runs on request that are due later.

use actix_web::web::Json;
use carillon_engine::manage::{DelayedRun, DueTime, RunLaterRequest};
use carillon_store::{ScheduledFilter, ScheduledKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::web::api::answer::Answer;
use crate::web::api::extract::{Body, Caller, Id, Key, Query, Trace, place, request};
use crate::web::api::view::{List, ScheduledRunView, Time};
use crate::web::state::Shared;

/// The time of a run; without one it is due now.
pub fn due_time(at: Option<Time>, delay_seconds: Option<i64>) -> Option<DueTime> {
    match (at, delay_seconds) {
        (Some(_), Some(_)) => Some(DueTime::Both),
        (Some(Time(at)), None) => Some(DueTime::At(at)),
        (None, delay) => delay.map(DueTime::InSeconds),
    }
}

/// A run of a list
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunItem {
    /// When it is due, at most five years ahead; a time that has passed means now
    at: Option<Time>,
    /// In how many seconds it is due, in place of `at`. Without both it is due now
    #[schema(minimum = 0, maximum = 158_112_000)]
    delay_seconds: Option<i64>,
    /// If no node reaches it within this time after it is due, it is cancelled; null: it runs however late it is
    #[schema(minimum = 1, maximum = 158_112_000)]
    expires_after_seconds: Option<i64>,
    /// Instead of the job's own; at most 65,536 bytes
    #[schema(min_length = 0, max_length = 65_536)]
    params: Option<String>,
    /// The registered executor that is to run it
    address: Option<String>,
    /// Instead of the job's own, in seconds: where runs wait in a line, it goes before those that have waited for at most this much longer
    #[schema(minimum = -3_600, maximum = 3_600)]
    priority: Option<i32>,
}

request! {
    /// Runs of the job; 1 MiB at most in all
    pub struct RunManyRequest: "{\"runs\":[{\"at\"?,\"delay_seconds\"?,\"expires_after_seconds\"?,\"params\"?,\"address\"?,\"priority\"?}]}" {
        #[schema(min_items = 1, max_items = 1_000)]
        runs: Vec<RunItem>,
    }
}

/// What a request for many runs has recorded
#[derive(Serialize, ToSchema)]
#[schema(as = RunMany)]
pub struct RunManyView {
    /// Their numbers, in the order of the request
    ids: Vec<i64>,
    /// false: an earlier request with the same key had recorded them. Keys are kept for some days after the latest time of the request
    is_new: bool,
}

impl RunItem {
    fn read(self) -> DelayedRun {
        let due = due_time(self.at, self.delay_seconds).unwrap_or(DueTime::InSeconds(0));
        let Self { expires_after_seconds, params, address, priority, .. } = self;
        DelayedRun { due, expires_after_seconds, params, parts: None, address, priority }
    }
}

pub async fn run_many(
    state: Shared,
    id: Id,
    caller: Caller,
    key: Key,
    trace: Trace,
    body: Body<RunManyRequest>,
) -> Answer<RunManyView> {
    let runs = body.0.runs.into_iter().map(RunItem::read).collect();
    let request = RunLaterRequest { job_id: id.0, runs, idempotency_key: key.0, traceparent: trace.0, is_list: true };
    let recorded = state.engine.jobs().run_later(request, &caller.0).await?;
    Ok(Json(RunManyView { ids: recorded.ids, is_new: recorded.is_new }))
}

pub async fn scheduled(state: Shared, id: Id, query: Query) -> Answer<List<ScheduledRunView, String>> {
    let filter = ScheduledFilter {
        job_id: id.0,
        from: query.time("from")?,
        to: query.time("to")?,
        after: query.after()?.map(|(due_at, id)| ScheduledKey { due_at, id }),
        limit: query.limit()?,
    };
    let page = state.engine.jobs().scheduled_runs(&filter).await?;
    Ok(Json(List::from_page(page, ScheduledRunView::from, |key| place((key.due_at, key.id)))))
}
