use cron::TimeUnitSpec;

/// The values of the plain fields as sets of bits, parsed by the crate `cron`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlainFields {
    seconds: u64,
    minutes: u64,
    hours: u64,
    pub months: u64,
}

/// Hour, minute and second.
pub(super) type TimeOfDay = (u32, u32, u32);

impl PlainFields {
    /// Parses an expression of plain fields.
    pub fn parse(plain: &str) -> Result<Self, String> {
        let schedule: cron::Schedule = plain.parse().map_err(|error| format!("`{plain}`: {error}"))?;
        Ok(Self {
            seconds: bits(schedule.seconds()),
            minutes: bits(schedule.minutes()),
            hours: bits(schedule.hours()),
            months: bits(schedule.months()),
        })
    }

    /// Whether the hour field has all hours.
    pub const fn has_every_hour(self) -> bool {
        self.hours == (1 << 24) - 1
    }

    /// The first time of a day.
    pub const fn first_time(self) -> TimeOfDay {
        (self.hours.trailing_zeros(), self.minutes.trailing_zeros(), self.seconds.trailing_zeros())
    }

    /// The first time of a day at or after another.
    pub fn time_at_or_after(self, (hour, minute, second): TimeOfDay) -> Option<TimeOfDay> {
        let (_, first_minute, first_second) = self.first_time();
        if self.hours & 1 << hour != 0 {
            if self.minutes & 1 << minute != 0
                && let Some(second) = next_bit(self.seconds, second)
            {
                return Some((hour, minute, second));
            }
            if let Some(minute) = next_bit(self.minutes, minute + 1) {
                return Some((hour, minute, first_second));
            }
        }
        Some((next_bit(self.hours, hour + 1)?, first_minute, first_second))
    }
}

fn bits(values: &impl TimeUnitSpec) -> u64 {
    values.iter().fold(0, |bits, value| bits | 1 << value)
}

/// The first bit at or after `from` that is set.
pub(super) fn next_bit(bits: u64, from: u32) -> Option<u32> {
    let rest = bits.checked_shr(from)? << from;
    (rest != 0).then(|| rest.trailing_zeros())
}
