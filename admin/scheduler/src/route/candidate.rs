use super::weight::DEFAULT_WEIGHT;

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
