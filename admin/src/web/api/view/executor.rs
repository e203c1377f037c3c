//! Executors.

use carillon_scheduler::Millis;
use carillon_store::app::executors::{self, Executor};

use super::time::Time;
use super::view_macro::view;

view! {
    /// An executor of the app: it has registered, or a person has entered its address
    pub struct ExecutorView as Executor from executor: Executor, now: Millis {
        /// Exactly as registered: it identifies the executor
        #[schema(min_length = 1, max_length = 255)]
        address: String,
        /// It uses Carillon's SDK
        own: bool = executor.boot_id.is_some(),
        /// Its last heartbeat still counts, or a person has entered its address
        live: bool = executor.is_live(now),
        /// A person has entered its address: it need not register, and stays until it is removed
        manual: bool = executor.manual_since.is_some(),
        /// Since when it gets no new runs; null: it gets them
        draining_since: Option<Time>,
        /// Its share of jobs with the route `weighted`: what is set, else what it announces, else 1
        #[schema(minimum = 1, maximum = 100)]
        weight: u32 = executor.weight(),
        /// `key=value,key2=value2`: what is set, else what it announces, else none
        #[schema(min_length = 0, max_length = 255)]
        labels: String = executor.labels().to_string(),
        /// What it announces of itself
        announced: ExecutorSettings,
        /// What an operator has set. It takes precedence, and outlives the registration
        set: ExecutorSettings,
        /// Since when it has been registered without a break
        registered_at: Time,
        /// Its last heartbeat; if it has sent none, when its address was entered
        seen_at: Time,
        /// When that heartbeat ceases to count; null: never, as a person has entered the address
        expires_at: Option<Time> = executor.manual_since.is_none().then_some(Time(executor.expires_at)),
    }
}

view! {
    /// Weight and labels of an executor
    struct ExecutorSettings as ExecutorSettings from settings: executors::ExecutorSettings {
        /// Null: not given
        #[schema(minimum = 1, maximum = 100)]
        weight: Option<i32>,
        /// Null: not given
        #[schema(min_length = 0, max_length = 255)]
        labels: Option<String>,
    }
}
