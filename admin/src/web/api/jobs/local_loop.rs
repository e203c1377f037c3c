//! `/jobs/{id}/loop`: where the loop of a best-effort job stands.

use actix_web::web::Json;
use carillon_engine::loops::LoopView;
use carillon_protocol::{LoopCounters, LoopFailure, LoopRun};

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::Id;
use crate::web::api::view::{IntoView, Time, view, words};
use crate::web::state::Shared;

view! {
    /// The loop of a best-effort job, which one executor fires by itself
    pub struct JobLoopView as JobLoop from found: LoopView {
        /// The job
        #[schema(minimum = 1)]
        job_id: i64 = found.lease.job_id,
        #[schema(value_type = words::LoopState)]
        state: &'static str = found.state.as_str(),
        /// Grows with each grant and with each stop
        epoch: i64 = found.lease.epoch,
        /// The address of the executor that got it last; empty: none of the app has had it
        executor: String = found.lease.address.clone(),
        /// When that executor got it; null: none has had it
        granted_at: Option<Time> = (found.lease.granted_at > 0).then_some(Time(found.lease.granted_at)),
        /// The last report of this grant; null: there is none
        reported_at: Option<Time> = (found.lease.reported_at > 0).then_some(Time(found.lease.reported_at)),
        /// Until when that executor may fire it unless it reports again; null: it does not fire
        expires_at: Option<Time> = (found.lease.expires_at > 0).then_some(Time(found.lease.expires_at)),
        /// The instant of the last call of this grant
        last_fired_at: Option<Time> = found.report.as_ref().and_then(|report| report.last_fired_at).map(Time),
        /// The last call of this grant that failed
        last_failure: Option<JobLoopFailureView> =
            found.report.as_ref().and_then(|report| report.last_failure.clone()).into_view(),
        /// Over all grants
        totals: JobLoopCountersView = found.totals.clone().into(),
        /// Of the grants that have ended
        ended: JobLoopCountersView = found.ended.clone().into(),
        /// How late the calls started, over all grants
        lateness: Vec<JobLoopLatenessView> = found.lateness().into_view(),
        /// The last calls, newest first, as the executor remembers them
        runs: Vec<JobLoopRunView> = found.history.clone().unwrap_or_default().runs.into_view(),
        /// The last calls that failed
        failures: Vec<JobLoopRunView> = found.history.clone().unwrap_or_default().failures.into_view(),
        /// Why the last calls are not known; null: they are
        history_error: Option<String> = found.history.err(),
    }
}

view! {
    /// What calls of a loop came to
    struct JobLoopCountersView as JobLoopCounters from counters: LoopCounters {
        /// Calls that were started
        #[schema(minimum = 0)]
        fired: u64 = counters.fired,
        /// Of those, the ones that succeeded
        #[schema(minimum = 0)]
        succeeded: u64 = counters.succeeded,
        /// Those that failed
        #[schema(minimum = 0)]
        failed: u64 = counters.failed,
        /// Instants without a call: the call before was going on, the process was held up, or the lease was not renewed in time
        #[schema(minimum = 0)]
        skipped: u64 = counters.skipped,
        /// Calls that were going on at the last report
        #[schema(minimum = 0)]
        running: u64 = counters.running,
        /// Calls that have failed since the last one that succeeded
        #[schema(minimum = 0)]
        failed_in_row: u64 = counters.failed_in_row,
    }
}

view! {
    /// Calls that started late by at most this much, and by more than those of the class before
    struct JobLoopLatenessView as JobLoopLateness from class: (Option<u32>, u64) {
        /// In ms; null: no bound
        #[schema(minimum = 1)]
        up_to_ms: Option<u32> = class.0,
        #[schema(minimum = 0)]
        calls: u64 = class.1,
    }
}

view! {
    /// A call that failed
    struct JobLoopFailureView as JobLoopFailure from failure: LoopFailure {
        /// Its instant
        at: Time = Time(failure.at),
        /// Why
        text: String,
    }
}

view! {
    /// A call of a loop that has ended
    struct JobLoopRunView as JobLoopRun from run: LoopRun {
        /// Its instant
        at: Time = Time(run.at),
        /// By how much it started later, in microseconds
        #[schema(minimum = 0)]
        late_us: u64 = run.late_us,
        /// How long it took, in microseconds
        #[schema(minimum = 0)]
        took_us: u64 = run.took_us,
        /// 200 success, 502 time-out, anything else failure
        code: i32 = run.code,
        /// Result, or why it failed
        text: Option<String>,
    }
}

/// Where the loop of a job stands.
pub async fn local_loop(state: Shared, id: Id) -> Answer<JobLoopView> {
    let found = state.engine.loop_of(&state.engine.jobs().get(id.0).await?).await?;
    let missing = || Error::not_found(format!("job {} has no loop: its fires are runs", id.0));
    Ok(Json(found.ok_or_else(missing)?.into()))
}
