use chrono::{DateTime, NaiveDateTime};

use crate::calendar::WallTimes;
use crate::time::{Millis, round_up_to_second};

/// One instant: the first whole second at or after the given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Once(Millis);

impl Once {
    pub fn new(at: Millis) -> Self {
        // A time without a next second is outside the supported years anyway.
        Self(round_up_to_second(at).unwrap_or(at))
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

    fn has_every_hour(&self) -> bool {
        false
    }
}
