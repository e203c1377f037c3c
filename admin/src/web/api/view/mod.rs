//! The answers in JSON, each with its schema for the OpenAPI document.

mod alarm;
mod app;
mod audit;
mod choice;
mod http;
mod job;
mod list;
mod misfire;
mod run;
mod schedule;
mod scheduled;
pub mod time;
mod view_macro;
pub mod words;
mod workflow;

pub use alarm::AlarmView;
pub use app::{AppTokenView, AppView, FormerNameView, NewAppTokenView, SecretView};
pub use audit::AuditView;
pub use job::{JobRequest, JobSettings, JobView, Parts};
pub use list::{List, Whole};
pub use misfire::MisfireView;
pub use run::{KillView, LogView, RunView};
pub use scheduled::{AnyRunView, GoneRunView, ScheduledRunView};
pub use time::Time;
pub use view_macro::IntoView;
pub(crate) use view_macro::view;
pub use workflow::WorkflowProgressView;
