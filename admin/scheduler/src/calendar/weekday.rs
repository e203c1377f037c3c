//! Days of the week.

use crate::words::words;

words! {
    /// A day of the week, as drafts and calendars name it.
    pub enum Weekday: "weekday" {
        /// Monday.
        Mon = 1 "MON",
        /// Tuesday.
        Tue = 2 "TUE",
        /// Wednesday.
        Wed = 3 "WED",
        /// Thursday.
        Thu = 4 "THU",
        /// Friday.
        Fri = 5 "FRI",
        /// Saturday.
        Sat = 6 "SAT",
        /// Sunday.
        Sun = 7 "SUN",
    }
}

impl From<chrono::Weekday> for Weekday {
    fn from(day: chrono::Weekday) -> Self {
        Self::ALL[day.num_days_from_monday() as usize]
    }
}
