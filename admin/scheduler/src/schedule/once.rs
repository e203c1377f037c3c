use chrono::{DateTime, NaiveDateTime};

use super::wall_clock::WallTimes;
use super::whole_second;
use crate::Millis;

/// One instant: the first whole second at or after a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Once(Millis);

impl Once {
    pub fn new(at: Millis) -> Self {
        // What has no next second lies beyond the calendar anyway.
        Self(whole_second(at).unwrap_or(at))
    }

    pub const fn at(self) -> Millis {
        self.0
    }
}

impl WallTimes for Once {
    fn at_or_after(&self, from: NaiveDateTime) -> Option<NaiveDateTime> {
        let at = DateTime::from_timestamp_millis(self.0)?.naive_utc();
        (at >= from).then_some(at)
    }

    fn every_hour(&self) -> bool {
        false
    }
}
