//! The answers in JSON, each with its schema for the OpenAPI document.

mod alarm;
mod app;
mod audit;
mod backfill;
mod calendar;
mod choice;
mod executor;
mod explanation;
mod forecast;
mod job;
mod list;
mod misfire;
mod pause;
mod preview;
mod retention;
mod run;
mod schedule;
pub mod time;
pub mod words;

pub use alarm::AlarmView;
pub use app::{AppTokenView, AppView, FormerNameView, NewAppTokenView};
pub use audit::AuditView;
pub use backfill::{BackfillInstants, BackfillView};
pub use calendar::{CalendarMembers, CalendarVersionView, CalendarView};
pub use executor::ExecutorView;
pub use explanation::ExplanationView;
pub use forecast::ForecastView;
pub use job::{JobIdentity, JobSettings, JobView};
pub use list::List;
pub use misfire::MisfireView;
pub use pause::{MaintenanceWindowView, PauseView};
pub use preview::PreviewView;
pub use retention::{DayCounts, RetentionView};
pub use run::{KillView, LogView, RunView};
pub use time::Time;
