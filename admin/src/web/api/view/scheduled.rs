//! Runs that are scheduled: delayed triggers.

use carillon_engine::manage::FoundRun;
use carillon_scheduler::Cause;
use carillon_store::ScheduledRun;
use serde::Serialize;
use utoipa::ToSchema;

use super::run::RunView;
use super::time::Time;
use super::view_macro::view;
use super::words;

view! {
    /// A run that is scheduled: it waits for its time. Then it becomes a run with a number of its own, which this number finds as well
    pub struct ScheduledRunView as ScheduledRun from run: ScheduledRun {
        /// Its number
        #[schema(minimum = 1)]
        id: i64,
        #[schema(minimum = 1)]
        job_id: i64,
        /// The app's name
        app: String,
        /// The job's name
        job: String,
        #[schema(value_type = words::Cause)]
        cause: Cause = Cause::Delayed,
        #[schema(inline)]
        state: ScheduledState = ScheduledState::Scheduled,
        /// When it is due
        scheduled_at: Time = Time(run.due_at),
        /// The same
        due_at: Time,
        /// If no node has reached it by then, it is cancelled. Null: it runs however late it is
        expires_at: Option<Time> = (run.expires_at != 0).then_some(Time(run.expires_at)),
        /// When it was asked for
        created_at: Time,
        /// Instead of the job's own; a list has their first 200 characters
        params: Option<String>,
        /// The executor that is to run it
        address: Option<String>,
    }
}

/// It waits for its time
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ScheduledState {
    Scheduled,
}

/// A run, or one that is scheduled: then `state` is `scheduled`; or one that is not kept any more: then there are `id` and `is_new` alone
#[derive(Serialize, ToSchema)]
#[schema(as = AnyRun)]
#[serde(untagged)]
pub enum AnyRunView {
    Run(Box<RunView>),
    Scheduled(Box<ScheduledRunView>),
    Gone(GoneRunView),
}

/// A delayed run that an earlier request with the same key has recorded, and that is not kept any more
#[derive(Serialize, ToSchema)]
#[schema(as = GoneRun)]
pub struct GoneRunView {
    /// The number under which it was scheduled
    #[schema(minimum = 1)]
    pub id: i64,
    /// false
    pub is_new: bool,
}

impl From<FoundRun> for AnyRunView {
    fn from(found: FoundRun) -> Self {
        match found {
            FoundRun::Run(run) => Self::Run(Box::new((*run).into())),
            FoundRun::Scheduled(run) => Self::Scheduled(Box::new((*run).into())),
        }
    }
}
