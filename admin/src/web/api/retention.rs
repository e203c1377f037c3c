//! `/retention`, `/apps/{id}/retention`, `/jobs/{id}/retention`: how long runs are kept. `/jobs/{id}/days`: counts of deleted
//! runs.

use actix_web::web::Json;
use carillon_scheduler::Millis;
use carillon_store::retention::remains;
use carillon_store::retention::rules::{EffectiveRetention, Retention, Scope};
use chrono::{Days, NaiveDate};

use super::answer::Answer;
use super::extract::{Body, Caller, Id, Query, request};
use super::view::{IntoView, Whole, view};
use crate::web::state::{Shared, State};

view! {
    /// What is set for how long runs are kept, and what is in force. Null: the next wider rule decides
    pub struct RetentionView as Retention from rule: Retention, in_force: EffectiveRetention {
        #[serde(flatten)]
        rule: RetentionUpdate = {
            let Retention { days, failure_days, failures, runs } = rule;
            RetentionUpdate { days, failure_days, failures, runs }
        },
        in_force: RetentionInForce = in_force.into(),
    }
}

view! {
    /// What is in force, from this rule, the wider rules and the defaults
    struct RetentionInForce as RetentionInForce from rule: EffectiveRetention {
        /// Days for which a run that did not fail is kept; 0: forever. 30 where nothing is set
        #[schema(minimum = 0, maximum = 3_650)]
        days: i32,
        /// Days for which a failed run and a skipped range are kept; 0: forever. 90 where nothing is set
        #[schema(minimum = 0, maximum = 3_650)]
        failure_days: i32,
        /// How many of a job's last failures stay, at any age. 10 where nothing is set
        #[schema(minimum = 0, maximum = 1_000)]
        failures: i32,
        /// How many of a job's latest runs that did not fail are kept; 0: without limit. 0 where nothing is set
        #[schema(minimum = 0, maximum = 1_000_000_000)]
        runs: i32,
    }
}

view! {
    /// Counts of deleted runs
    pub struct DayCounts as DayCounts from counts: Vec<remains::DayCounts> {
        /// Earliest first
        items: Vec<DayCount> = counts.into_view(),
        /// There is no second page
        #[schema(inline)]
        next: Option<Whole> = None,
    }
}

view! {
    /// Counts of the deleted runs of one day
    struct DayCount as DayCount from counts: remains::DayCounts {
        /// Of their instants, in the zone of the reports
        day: NaiveDate = {
            let days = Days::new(u64::from(counts.day.unsigned_abs()));
            NaiveDate::default().checked_add_days(days).unwrap_or_default()
        },
        /// How many had succeeded
        #[schema(minimum = 0)]
        succeeded: i64,
        /// How many had failed
        #[schema(minimum = 0)]
        failed: i64,
        /// How many were killed
        #[schema(minimum = 0)]
        killed: i64,
        /// How many were never sent
        #[schema(minimum = 0)]
        cancelled: i64,
    }
}

const DAY: Millis = 86_400_000;

request! {
    /// How long runs are kept. A member that is null or left out leaves it to the next wider rule
    #[derive(serde::Serialize)]
    pub struct RetentionUpdate: "how long runs are kept, such as {\"days\":30,\"failure_days\":90}" {
        /// Days for which a run that did not fail is kept; 0: forever
        #[schema(minimum = 0, maximum = 3_650)]
        days: Option<i32>,
        /// Days for which a failed run and a skipped range are kept; 0: forever
        #[schema(minimum = 0, maximum = 3_650)]
        failure_days: Option<i32>,
        /// How many of a job's last failures stay, at any age
        #[schema(minimum = 0, maximum = 1_000)]
        failures: Option<i32>,
        /// How many of a job's latest runs that did not fail are kept; 0: without limit
        #[schema(minimum = 0, maximum = 1_000_000_000)]
        runs: Option<i32>,
    }
}

pub async fn get_all(state: Shared) -> Answer<RetentionView> {
    get(&state, Scope::All).await
}

pub async fn get_app(state: Shared, id: Id) -> Answer<RetentionView> {
    get(&state, Scope::App(id.0)).await
}

pub async fn get_job(state: Shared, id: Id) -> Answer<RetentionView> {
    get(&state, Scope::Job(id.0)).await
}

async fn get(state: &State, scope: Scope) -> Answer<RetentionView> {
    let (rule, in_force) = state.engine.retention().get(scope).await?;
    Ok(Json(RetentionView::new(rule, in_force)))
}

pub async fn put_all(state: Shared, caller: Caller, body: Body<RetentionUpdate>) -> Answer<RetentionView> {
    put(&state, Scope::All, caller, body).await
}

pub async fn put_app(state: Shared, id: Id, caller: Caller, body: Body<RetentionUpdate>) -> Answer<RetentionView> {
    put(&state, Scope::App(id.0), caller, body).await
}

pub async fn put_job(state: Shared, id: Id, caller: Caller, body: Body<RetentionUpdate>) -> Answer<RetentionView> {
    put(&state, Scope::Job(id.0), caller, body).await
}

async fn put(state: &State, scope: Scope, caller: Caller, body: Body<RetentionUpdate>) -> Answer<RetentionView> {
    let RetentionUpdate { days, failure_days, failures, runs } = body.0;
    let rule = Retention { days, failure_days, failures, runs };
    let (rule, in_force) = state.engine.retention().set(scope, rule, &caller.0).await?;
    Ok(Json(RetentionView::new(rule, in_force)))
}

/// Counts of deleted runs, for the days of their instants.
pub async fn days(state: Shared, id: Id, query: Query) -> Answer<DayCounts> {
    let (now, day) = (state.clock.now(), |at: Millis| state.store.report_day(at));
    let (from, to) = (query.time("from")?.unwrap_or(now - 365 * DAY), query.time("to")?.unwrap_or(now));
    let counts = state.store.retention().day_counts(id.0, day(from), day(to)).await?;
    Ok(Json(counts.into()))
}
