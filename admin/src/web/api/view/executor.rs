//! Executors.

use carillon_store::app::executors::{self, Executor};
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;

/// An executor of the app: it has registered, or a person has entered its address
#[derive(Serialize, ToSchema)]
#[schema(as = Executor)]
pub struct ExecutorView {
    /// Exactly as registered: it identifies the executor
    #[schema(min_length = 1, max_length = 255)]
    address: String,
    /// It uses Carillon's SDK
    own: bool,
    /// Its last heartbeat still counts, or a person has entered its address
    live: bool,
    /// A person has entered its address: it need not register, and stays until it is removed
    manual: bool,
    /// Since when it gets no new runs; null: it gets them
    draining_since: Option<Time>,
    /// Its share of jobs with the route `weighted`: what is set, else what it announces, else 1
    #[schema(minimum = 1, maximum = 100)]
    weight: u32,
    /// `key=value,key2=value2`: what is set, else what it announces, else none
    #[schema(min_length = 0, max_length = 255)]
    labels: String,
    /// What it announces of itself
    announced: ExecutorSettings,
    /// What an operator has set. It takes precedence, and outlives the registration
    set: ExecutorSettings,
    /// Since when it has been registered without a break
    registered_at: Time,
    /// Its last heartbeat; if it has sent none, when its address was entered
    seen_at: Time,
    /// When that heartbeat ceases to count; null: never, as a person has entered the address
    expires_at: Option<Time>,
}

/// Weight and labels of an executor
#[derive(Serialize, ToSchema)]
struct ExecutorSettings {
    /// Null: not given
    #[schema(minimum = 1, maximum = 100)]
    weight: Option<i32>,
    /// Null: not given
    #[schema(min_length = 0, max_length = 255)]
    labels: Option<String>,
}

impl From<executors::ExecutorSettings> for ExecutorSettings {
    fn from(executors::ExecutorSettings { weight, labels }: executors::ExecutorSettings) -> Self {
        Self { weight, labels }
    }
}

impl ExecutorView {
    pub fn new(executor: Executor, now: carillon_scheduler::Millis) -> Self {
        Self {
            own: executor.boot_id.is_some(),
            live: executor.is_live(now),
            weight: executor.weight(),
            labels: executor.labels().to_string(),
            address: executor.address,
            announced: executor.announced.into(),
            set: executor.set.into(),
            registered_at: Time(executor.registered_at),
            seen_at: Time(executor.seen_at),
            manual: executor.manual_since.is_some(),
            draining_since: executor.draining_since.map(Time),
            expires_at: executor.manual_since.is_none().then_some(Time(executor.expires_at)),
        }
    }
}
