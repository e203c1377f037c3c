#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod alarm;
mod audit_action;
pub mod calendar;
mod checks;
pub mod clock;
pub mod cron;
pub mod field_error;
pub mod job;
pub mod plan;
pub mod queue;
pub mod retry;
pub mod route;
pub mod run;
pub mod schedule;
pub mod shard;
pub mod time;
mod words;
pub mod workflow;
pub mod zone;

pub use alarm::{AlarmKind, AlertKind};
pub use audit_action::{AuditAction, AuditObjectKind};
pub use calendar::{Calendar, ClockChanges, Excluded, Weekday};
pub use clock::{Clock, ManualClock, Observed, Sample, SystemClock};
pub use cron::CronSchedule;
pub use field_error::FieldError;
pub use job::{
    BlockStrategy, Durability, HttpAuth, HttpDraft, HttpMethod, JobDraft, JobSpec, JobTemplate, Parts, ScriptDraft,
    ScriptKind, check_key, check_priority, check_split, check_tag, hex_digest, validate_app_name,
};
pub use plan::{CatchUp, MisfirePolicy, Plan, PlanInput, SkipReason, Skipped, plan};
pub use queue::{Entry, Ring};
pub use retry::RetryDelay;
pub use route::{Labels, RouteStrategy};
pub use run::limit::{LimitDraft, Place, SlotKey};
pub use run::{Cause, FireKey, Outcome, Overlap, RunEvent, RunReason, RunState, Traceparent};
pub use schedule::{CronDraft, DailyDraft, KindDraft, Schedule, ScheduleContext, ScheduleDraft, ScheduleInput};
pub use shard::{fair_share, shard_of};
pub use time::Millis;
pub use words::UnknownWord;
pub use workflow::{Graph, NodeState, WorkflowDraft};
pub use zone::{Zone, zone_data};
