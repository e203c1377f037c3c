use chrono::NaiveDateTime;

/// Wall-clock times on whole seconds, in any time zone.
pub(crate) trait WallTimes {
    /// The first one at or after `from`, within 100 years.
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime>;

    /// Whether the times cover every hour of the day: then elapsed time, not wall-clock time, decides at a clock change.
    fn has_every_hour(&self) -> bool;
}
