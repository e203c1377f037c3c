//! When a job must fire, worked out in the dullest way there is: second by second. It shares no line with the product.

use crate::clock::Millis;
use crate::record::Schedule;

/// Every instant in `(after, until]`, ascending.
pub fn instants(schedule: &Schedule, after: Millis, until: Millis) -> Vec<Millis> {
    let first_second = after.div_euclid(1000) + 1;
    let seconds = first_second..=until.div_euclid(1000);
    match schedule {
        Schedule::None => vec![],
        Schedule::Once { at } => {
            // The first whole second at or after that moment.
            let at = at.div_euclid(1000) * 1000 + if at.rem_euclid(1000) > 0 { 1000 } else { 0 };
            (after < at && at <= until).then_some(at).into_iter().collect()
        }
        Schedule::Rate { seconds: period, anchor } => seconds
            .map(|second| second * 1000)
            .filter(|at| at > anchor && (at - anchor).rem_euclid(period * 1000) == 0)
            .collect(),
        Schedule::Cron { expression } => match Fields::read(expression) {
            Some(fields) => seconds.filter(|second| fields.hold(*second)).map(|second| second * 1000).collect(),
            None => vec![],
        },
    }
}

/// Seconds, minutes and hours of a UTC day. A run lasts minutes: days are left out.
struct Fields([Vec<bool>; 3]);

impl Fields {
    fn read(expression: &str) -> Option<Self> {
        let words: Vec<&str> = expression.split_whitespace().collect();
        let [second, minute, hour, "*", "*", "?"] = words[..] else {
            return None;
        };
        Some(Self([field(second, 60)?, field(minute, 60)?, field(hour, 24)?]))
    }

    fn hold(&self, epoch_second: i64) -> bool {
        let of_day = epoch_second.rem_euclid(86_400);
        let parts = [of_day % 60, of_day / 60 % 60, of_day / 3600];
        self.0.iter().zip(parts).all(|(field, value)| field[value as usize])
    }
}

/// `*`, `a`, `a-b`, `a/s`, `*/s`, and lists of them.
fn field(text: &str, size: usize) -> Option<Vec<bool>> {
    let mut set = vec![false; size];
    for item in text.split(',') {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, step.parse::<usize>().ok()?.max(1)),
            None => (item, 1),
        };
        let (from, to) = match range.split_once('-') {
            Some((from, to)) => (from.parse().ok()?, to.parse().ok()?),
            None if range == "*" => (0, size - 1),
            None if item.contains('/') => (range.parse().ok()?, size - 1),
            None => (range.parse().ok()?, range.parse().ok()?),
        };
        (from..=to).step_by(step).try_for_each(|value: usize| {
            *set.get_mut(value)? = true;
            Some(())
        })?;
    }
    Some(set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cron(expression: &str, after: i64, until: i64) -> Vec<i64> {
        let schedule = Schedule::Cron { expression: expression.into() };
        instants(&schedule, after, until)
    }

    #[test]
    fn rates_count_from_their_anchor() {
        let rate = Schedule::Rate { seconds: 5, anchor: 3_000 };
        assert_eq!(instants(&rate, 0, 14_000), [8_000, 13_000]);
        assert_eq!(instants(&rate, 8_000, 13_000), [13_000]);
    }

    #[test]
    fn cron_of_seconds_minutes_and_hours() {
        assert_eq!(cron("0/20 * * * * ?", 0, 60_000), [20_000, 40_000, 60_000]);
        assert_eq!(cron("5 * * * * ?", 0, 120_000), [5_000, 65_000]);
        assert_eq!(cron("0 1-2 0 * * ?", 0, 86_400_000), [60_000, 120_000]);
        assert_eq!(cron("1,58 0 * * * ?", 0, 60_000), [1_000, 58_000]);
        assert_eq!(cron("0 0 0 31 2 ?", 0, 86_400_000), Vec::<i64>::new());
    }

    #[test]
    fn once_is_at_the_first_whole_second() {
        assert_eq!(instants(&Schedule::Once { at: 1_500 }, 0, 9_000), [2_000]);
        assert_eq!(instants(&Schedule::Once { at: 2_000 }, 0, 9_000), [2_000]);
        assert!(instants(&Schedule::Once { at: 2_000 }, 2_000, 9_000).is_empty());
    }
}
