//! What a schedule will do.

use carillon_inspect::preview::{self, Preview};
use carillon_scheduler::Millis;
use chrono::{NaiveDate, SecondsFormat};
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Time;

/// What a schedule will do
#[derive(Serialize, ToSchema)]
#[schema(as = Preview)]
pub struct PreviewView {
    /// Earliest first
    items: Vec<Time>,
    /// The zone of the schedule; UTC for kinds that have none
    #[schema(min_length = 1, max_length = 64)]
    timezone: &'static str,
    /// The same instants in that zone
    #[schema(value_type = Vec<DateTime<FixedOffset>>)]
    local: Vec<String>,
    /// There are no further instants
    ends: bool,
    spread: Option<SpreadView>,
    /// Excluded days up to the last of these instants, at most 50
    excluded: Vec<ExcludedDay>,
    /// For people: what the clock changes of the coming year do, and more
    warnings: Vec<String>,
}

/// Which offset the spread gives to the job
#[derive(Serialize, ToSchema)]
#[schema(as = Spread)]
struct SpreadView {
    /// The window
    seconds: u32,
    /// By how much every instant is moved
    offset_seconds: u32,
    /// For people
    why: String,
}

/// A day with instants that calendars exclude
#[derive(Serialize, ToSchema)]
struct ExcludedDay {
    /// In the zone of the schedule
    day: NaiveDate,
    /// Where its instants are moved; null: they are left out
    moved_to: Option<NaiveDate>,
    /// The calendars that exclude it
    calendars: Vec<String>,
}

impl From<Preview> for PreviewView {
    fn from(preview: Preview) -> Self {
        let zone = preview.zone;
        let local = |at: &Millis| preview::local(*at, zone).to_rfc3339_opts(SecondsFormat::Secs, false);
        let excluded = preview.excluded.into_iter();
        Self {
            local: preview.fires.iter().map(local).collect(),
            items: preview.fires.into_iter().map(Time).collect(),
            timezone: zone.name(),
            ends: preview.ends,
            spread: preview.spread.map(|spread| SpreadView {
                seconds: spread.seconds,
                offset_seconds: spread.offset_seconds,
                why: spread.why,
            }),
            excluded: excluded
                .map(|day| ExcludedDay { day: day.day, moved_to: day.moved_to, calendars: day.calendars })
                .collect(),
            warnings: preview.notes,
        }
    }
}
