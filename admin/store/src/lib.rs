#![doc = include_str!("../README.md")]

#[macro_use]
pub mod db;

pub mod alarm;
pub mod alert;
pub mod app;
pub mod audit;
pub mod backfill;
pub mod calendar;
mod error;
pub mod import;
pub mod job;
pub mod lease;
pub mod map;
pub mod people;
pub mod report;
pub mod retention;
pub mod run;
mod store;
pub mod views;
pub mod workflow;

pub use app::apps::App;
pub use app::declared::words::{DeclarationSetting, DeclaredState};
pub use app::limits::rules::LimitRule;
pub use audit::actor::Actor;
pub use audit::entry::AuditObject;
pub use calendar::calendars::{CalendarVersion, NamedCalendar};
pub use calendar::pinned::{Calendars, VersionKey};
pub use db::connect::Database;
pub use db::request_key::MAX_KEY_CHARS;
pub use db::set_aside::Unreadable;
pub use db::sql::filter::Page;
pub use error::{Error, Result};
pub use job::children::ChildLink;
pub use job::filter::{JobFilter, JobSort};
pub use job::in_force::EnabledSchedule;
pub use job::labels::scripts::ScriptVersion;
pub use job::list::CountedJobs;
pub use job::lock::TargetJob;
pub use job::next_fires::NextFire;
pub use job::pause::{JobPause, PauseNote};
pub use job::stored_job::{Definition, DefinitionContext, Job};
pub use people::grants::{GrantScope, Grants, Role, VisibleApps};
pub use people::source_network::source_network;
pub use run::params::RunParams;
pub use run::trigger::delayed::view::{ScheduledFilter, ScheduledKey, ScheduledRun};
pub use run::view::filter::{RunFilter, RunSort};
pub use run::view::misfires::{Misfire, MisfireFilter, MisfireKey};
pub use run::view::run_view::{RunView, sentence};
pub use store::Store;
