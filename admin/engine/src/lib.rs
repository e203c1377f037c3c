#![doc = include_str!("../README.md")]
// A service's step is one future, with those of the database inside: more levels than the default of 128.
#![recursion_limit = "256"]

mod clock_cache;
pub(crate) mod complete;
mod context;
pub(crate) mod dispatch;
mod engine;
pub mod executor;
mod job_cache;
pub mod lease;
pub mod loops;
pub(crate) mod maintain;
pub mod manage;
pub mod metrics;
pub mod outgoing;
pub(crate) mod plan;
pub(crate) mod recover;
pub mod run_log;
pub mod runtime;
mod services;
mod settings;

pub use complete::completer::{CompleteReport, Completer};
pub use complete::outcome_queue::ReportNotStored;
pub use context::Context;
pub use dispatch::dispatcher::{DispatchReport, Dispatcher};
pub use engine::{Engine, EngineParts};
pub use lease::clock_guard::ClockGuard;
pub use lease::coordinator::{LeaseCoordinator, LeaseReport};
pub use manage::Error;
pub use plan::scanner::{ScanReport, Scanner};
pub use services::Services;
pub use settings::{LostRule, Options, Settings};
