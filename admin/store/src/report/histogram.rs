//! How long something took, as counts of buckets that can be added up over jobs and days.
//!
//! Each power of two has eight buckets of the same width, so that a percentile is wrong by at most 6 %.

use std::collections::BTreeMap;
use std::fmt;

use carillon_scheduler::Millis;

/// Of a power of two: 2 to this many.
const BITS: u32 = 3;
/// 24 days; what took longer is in the bucket of that.
const LONGEST: u64 = (1 << 31) - 1;

/// Counts by bucket, without those that are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram(BTreeMap<u16, u64>);

fn bucket(ms: Millis) -> u16 {
    let ms = u64::try_from(ms).unwrap_or(0).min(LONGEST);
    let place = match ms.checked_ilog2() {
        Some(power) if power > BITS => {
            let shift = power - BITS;
            (u64::from(shift) << BITS) + (ms >> shift)
        }
        _ => ms,
    };
    u16::try_from(place).unwrap_or(u16::MAX)
}

/// The middle of a bucket.
fn middle(bucket: u16) -> Millis {
    let bucket = i64::from(bucket);
    let shift = (bucket >> BITS) - 1;
    if shift <= 0 {
        return bucket;
    }
    let lowest = (bucket - (shift << BITS)) << shift;
    lowest + (1 << shift) / 2
}

impl Histogram {
    pub fn add(&mut self, ms: Millis) {
        *self.0.entry(bucket(ms)).or_default() += 1;
    }

    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.0 {
            *self.0.entry(*bucket).or_default() += count;
        }
    }

    /// In milliseconds, of `percent` from 1 to 100. None: there is nothing.
    pub fn percentile(&self, percent: u64) -> Option<Millis> {
        let all: u64 = self.0.values().sum();
        let rank = (all * percent).div_ceil(100);
        let mut passed = 0;
        let found = self.0.iter().find(|(_, count)| {
            passed += **count;
            passed >= rank
        });
        found.map(|(bucket, _)| middle(*bucket))
    }

    /// As [`Display`](fmt::Display) writes it; parts that are not understood are left out.
    pub fn from_text(text: &str) -> Self {
        let pair = |pair: &str| {
            let (bucket, count) = pair.split_once(':')?;
            Some((bucket.parse().ok()?, count.parse().ok()?))
        };
        Self(text.split(' ').filter_map(pair).collect())
    }
}

/// `17:3 40:1`: three in bucket 17, one in bucket 40.
impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (bucket, count)) in self.0.iter().enumerate() {
            let space = if place == 0 { "" } else { " " };
            write!(f, "{space}{bucket}:{count}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_within_six_percent() {
        for ms in (0..5_000).chain((1..2_000).map(|step| step * 86_413)).chain([LONGEST as i64, i64::MAX, -5]) {
            let mut histogram = Histogram::default();
            histogram.add(ms);
            let shown = histogram.percentile(50).unwrap();
            let real = ms.clamp(0, LONGEST as i64);
            assert!((shown - real).abs() * 100 <= real * 625 / 100 + 50, "{ms} is shown as {shown}");
        }
    }

    #[test]
    fn percentiles_of_merged_histograms() {
        let (mut one, mut two) = (Histogram::default(), Histogram::default());
        (1..=10).for_each(|ms| one.add(ms));
        (1..=10).for_each(|_| two.add(60_000));
        assert_eq!((one.percentile(50), one.percentile(95)), (Some(5), Some(10)));
        one.merge(&two);
        assert_eq!(one.percentile(50), Some(10));
        assert!((56_000..64_000).contains(&one.percentile(95).unwrap()));
        assert_eq!(Histogram::from_text(&one.to_string()), one);
        assert_eq!(Histogram::from_text("").percentile(50), None);
    }
}
