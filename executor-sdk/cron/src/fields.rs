use crate::days::DayRule;
use crate::years::Years;

/// The syntax of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Six or seven fields, seconds first, as Quartz and xxl-job: kind `cron`.
    Quartz,
    /// Five fields, as in a crontab: kind `unix_cron`.
    Unix,
}

/// The checked fields of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronFields {
    /// Second, minute, hour, day of the month, month and day of the week (1 is Sunday): each `*`, `?` or a sorted list of numbers without
    /// ranges, steps and names. The two day fields are only an approximation of [`days`](Self::days).
    pub plain: String,
    /// The days that match.
    pub days: DayRule,
    /// The years that match.
    pub years: Years,
}
