//! What a schedule will do.

use carillon_inspect::preview::{self, ExcludedDay, Preview, Spread};
use chrono::{NaiveDate, SecondsFormat};

use super::time::Time;
use super::view_macro::{IntoView, view};

view! {
    /// What a schedule will do
    pub struct PreviewView as Preview from preview: Preview {
        /// The same instants in the zone
        #[schema(value_type = Vec<DateTime<FixedOffset>>)]
        local: Vec<String> = {
            let local = |at: &i64| preview::local(*at, preview.zone).to_rfc3339_opts(SecondsFormat::Secs, false);
            preview.fires.iter().map(local).collect()
        },
        /// Earliest first
        items: Vec<Time> = preview.fires.into_view(),
        /// The zone of the schedule; UTC for kinds that have none
        #[schema(min_length = 1, max_length = 64)]
        timezone: &'static str = preview.zone.name(),
        /// There are no further instants
        ends: bool,
        spread: Option<SpreadView>,
        /// Excluded days up to the last of these instants, at most 50
        excluded: Vec<ExcludedDayView>,
        /// For people: what the clock changes of the coming year do, and more
        warnings: Vec<String> = preview.notes,
    }
}

view! {
    /// Which offset the spread gives to the job
    struct SpreadView as Spread from spread: Spread {
        /// The window
        seconds: u32,
        /// By how much every instant is moved
        offset_seconds: u32,
        /// For people
        why: String,
    }
}

view! {
    /// A day with instants that calendars exclude
    struct ExcludedDayView as ExcludedDay from day: ExcludedDay {
        /// In the zone of the schedule
        day: NaiveDate,
        /// Where its instants are moved; null: they are left out
        moved_to: Option<NaiveDate>,
        /// The calendars that exclude it
        calendars: Vec<String>,
    }
}
