//! The schema of a schedule: [`ScheduleDraft`](carillon_scheduler::ScheduleDraft) reads and writes the JSON.
#![expect(dead_code, reason = "describes another type")]

use std::collections::HashSet;

use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Schema, Type};

use super::time::Time;
use super::words;

/// When a job fires
#[derive(ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Schedule {
    None(NoSchedule),
    Cron(CronSchedule),
    UnixCron(UnixCronSchedule),
    FixedRate(FixedRateSchedule),
    FixedDelay(FixedDelaySchedule),
    Once(OnceSchedule),
    Daily(DailySchedule),
}

/// Never by itself: the job only runs by hand, by the API or as a child
#[derive(ToSchema)]
pub struct NoSchedule {}

/// At times of a time zone
#[derive(ToSchema)]
pub struct CronSchedule {
    /// `second minute hour day-of-month month day-of-week [year]`
    #[schema(examples("0 */5 * * * ?"))]
    expression: String,
    #[serde(flatten)]
    zone: Zone,
    #[serde(flatten)]
    limits: Limits,
}

/// The same in five fields. 0 and 7 are Sunday; when both day fields are restricted, a day has to match only one of them
#[derive(ToSchema)]
pub struct UnixCronSchedule {
    /// `minute hour day-of-month month day-of-week`
    #[schema(examples("*/5 * * * *"))]
    expression: String,
    #[serde(flatten)]
    zone: Zone,
    #[serde(flatten)]
    limits: Limits,
}

/// Every n seconds or milliseconds, counted from `anchor_at`. One of the two is given
#[derive(ToSchema)]
pub struct FixedRateSchedule {
    #[schema(minimum = 1, maximum = 31_536_000, required = false)]
    seconds: i64,
    /// In place of `seconds`, for best-effort jobs
    #[schema(minimum = 50, maximum = 3_600_000, required = false)]
    milliseconds: i64,
    /// A whole second from which it counts. Left out: a new job counts from its creation, another rate from the edit, and a rate
    /// that stays from where it does
    #[schema(required = false)]
    anchor_at: Time,
    #[serde(flatten)]
    limits: Limits,
}

/// n seconds after the end of the last run, with any outcome
#[derive(ToSchema)]
pub struct FixedDelaySchedule {
    #[schema(minimum = 1, maximum = 31_536_000)]
    seconds: i64,
    #[serde(flatten)]
    limits: Limits,
}

/// At one moment
#[derive(ToSchema)]
pub struct OnceSchedule {
    /// The moment, with any offset; a part of a second is rounded up to the next second
    at: Time,
    #[serde(flatten)]
    limits: Limits,
}

/// Every n seconds between two times of day
#[derive(ToSchema)]
pub struct DailySchedule {
    /// Counted from `from`
    #[schema(minimum = 1, maximum = 86_400)]
    every_seconds: i64,
    /// The first instant of a day
    #[schema(pattern = "^[0-2]?[0-9]:[0-5][0-9](:[0-5][0-9])?$", examples("08:30", "17:00:00"))]
    from: String,
    /// No instant is after it. If it is earlier than `from`, it belongs to the next day
    #[schema(pattern = "^[0-2]?[0-9]:[0-5][0-9](:[0-5][0-9])?$", examples("08:30", "17:00:00"))]
    to: String,
    /// Days on which a window begins; all days if left out
    #[schema(required = false)]
    weekdays: HashSet<words::Weekday>,
    #[serde(flatten)]
    zone: Zone,
    #[serde(flatten)]
    limits: Limits,
}

#[derive(ToSchema)]
struct Zone {
    /// IANA name
    #[schema(default = "UTC", examples("Europe/Berlin"), required = false)]
    timezone: String,
    #[schema(default = "carillon", required = false)]
    clock_changes: words::ClockChanges,
}

/// What every kind but `none` has.
#[derive(ToSchema)]
struct Limits {
    /// No instant is before it; any offset is accepted
    #[schema(required = false)]
    start_at: Time,
    /// No instant is after it; any offset is accepted
    #[schema(required = false)]
    end_at: Time,
    /// After this number of runs the schedule is exhausted
    #[schema(minimum = 1, maximum = 1_000_000_000, required = false)]
    max_fires: u32,
    #[schema(schema_with = spread_seconds, required = false)]
    spread_seconds: u32,
    /// By how much every instant is moved: less than `spread_seconds`. Left out: the server chooses it, and keeps it while
    /// `spread_seconds` and `kind` stay
    #[schema(minimum = 0, maximum = 86_399, required = false)]
    spread_offset_seconds: u32,
    /// Names of calendars that exclude days
    #[schema(default = json!([]), required = false)]
    calendars: Vec<String>,
    #[schema(default = "skip", required = false)]
    on_excluded: words::Excluded,
}

/// 0, or 2 and more: there is no attribute for two ranges.
fn spread_seconds() -> Schema {
    let integer = || ObjectBuilder::new().schema_type(Type::Integer);
    OneOfBuilder::new()
        .item(integer().enum_values(Some([0])))
        .item(integer().minimum(Some(2)).maximum(Some(86_400)))
        .default(Some(0.into()))
        .description(Some(
            "Every instant is moved by the same offset, which is less than this number of seconds. The server chooses the offset \
             at which the load is lowest; 0: none",
        ))
        .build()
        .into()
}

/// From a failure to the next attempt
#[derive(ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RetryDelay {
    /// Doubled with each attempt, and moved by up to 20 % in either direction
    Exponential(ExponentialDelay),
    /// Exactly these delays; the last one is used for all further retries
    Fixed(FixedDelays),
}

/// Doubled with each attempt, and moved by up to 20 % in either direction
#[derive(ToSchema)]
pub struct ExponentialDelay {
    /// After the first failure; 0: at once
    #[schema(minimum = 0, maximum = 86_400, default = 5, required = false)]
    base_seconds: i64,
    /// The longest delay; not below the base
    #[schema(minimum = 1, maximum = 604_800, default = 300, required = false)]
    cap_seconds: i64,
}

/// Exactly these delays; the last one is used for all further retries
#[derive(ToSchema)]
pub struct FixedDelays {
    #[schema(minimum = 0, maximum = 604_800, min_items = 1, max_items = 100)]
    seconds: Vec<i64>,
}
