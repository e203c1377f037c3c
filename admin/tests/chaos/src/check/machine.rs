//! How busy the machine was. Bounds are those of a machine that has time; one that compiles
//! beside the run must not make the product look late.

use std::collections::BTreeMap;

use super::lateness::percentile;
use crate::clock::Millis;
use crate::record::History;
use crate::samples::{PRESSURE, STALL, SUITE};

/// Up to here it is the load of the run itself, per cent.
const OUR_OWN: f64 = 60.0;

/// Stall in ms and CPU pressure in per cent, by the end of the second that they tell of.
pub struct Machine(BTreeMap<Millis, (Millis, f64)>);

impl Machine {
    pub fn new(history: &History) -> Self {
        let own = history.samples.iter().filter(|sample| sample.process == SUITE);
        let of = |metrics: &BTreeMap<String, f64>, name| metrics.get(name).copied().unwrap_or(0.0);
        Self(
            own.map(|sample| {
                let stall = of(&sample.metrics, STALL) as Millis;
                (sample.at, (stall, of(&sample.metrics, PRESSURE)))
            })
            .collect(),
        )
    }

    /// A bound as this machine could keep it: wider by its worst stall around the instant, and by up to the double where
    /// every process waited for a core.
    pub fn widen(&self, bound: Millis, at: Millis) -> Millis {
        let near = || self.0.range(at - 1_000..=at + 3_000).map(|(_, seen)| *seen);
        let stall = near().map(|(stall, _)| stall).max().unwrap_or(0);
        let pressure = near().map(|(_, pressure)| pressure).fold(0.0, f64::max);
        let factor = 1.0 + (pressure - OUR_OWN).max(0.0) / (100.0 - OUR_OWN);
        (bound as f64 * factor) as Millis + stall
    }

    pub fn stall_p99(&self) -> Millis {
        let mut all: Vec<Millis> = self.0.values().map(|(stall, _)| *stall).collect();
        all.sort_unstable();
        percentile(&all, 99)
    }

    pub fn pressure(&self) -> f64 {
        let sum: f64 = self.0.values().map(|(_, pressure)| pressure).sum();
        (sum / self.0.len().max(1) as f64).round()
    }
}
