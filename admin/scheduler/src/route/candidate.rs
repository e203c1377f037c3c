use std::ops::RangeInclusive;

/// The range of an executor's weight.
pub const WEIGHTS: RangeInclusive<u32> = 1..=100;
/// The weight of an executor for which none is set.
pub const DEFAULT_WEIGHT: u32 = 1;

/// An executor that may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// Exactly as registered.
    pub address: &'a str,
    /// Its share of a weighted route, within [`WEIGHTS`](super::WEIGHTS).
    pub weight: u32,
    /// Its open runs, of all jobs.
    pub active: u32,
}

impl<'a> Candidate<'a> {
    /// A candidate with the default weight and without open runs.
    pub const fn new(address: &'a str) -> Self {
        Self { address, weight: DEFAULT_WEIGHT, active: 0 }
    }
}

/// Checks the weight that an operator or the executor itself sets.
///
/// # Errors
/// Names the allowed range.
pub fn check_weight(weight: i64) -> Result<u32, String> {
    let checked = u32::try_from(weight).ok().filter(|weight| WEIGHTS.contains(weight));
    checked.ok_or_else(|| format!("{weight} is not allowed; {} to {}", WEIGHTS.start(), WEIGHTS.end()))
}

#[cfg(test)]
mod tests {
    use super::check_weight;

    #[test]
    fn weights_are_whole_and_small() {
        assert_eq!((check_weight(1), check_weight(100)), (Ok(1), Ok(100)));
        assert_eq!(check_weight(0), Err("0 is not allowed; 1 to 100".to_owned()));
        assert!(check_weight(101).is_err() && check_weight(i64::MIN).is_err());
    }
}
