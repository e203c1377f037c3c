//! Limits: never more runs at work than there are slots, and none without one, whatever has happened to the nodes.

use crate::check::{Figure, Findings};
use crate::load::limited::SLOTS;
use crate::record::History;
use crate::samples::{AT_WORK, LIMITS, WITHOUT_SLOT};

pub fn check(history: &History, findings: &mut Findings) {
    let mut most = 0;
    for sample in history.samples.iter().filter(|sample| sample.process == LIMITS) {
        let of = |name: &str| sample.metrics.get(name).copied().unwrap_or(0.0) as i64;
        let (at_work, without) = (of(AT_WORK), of(WITHOUT_SLOT));
        most = most.max(at_work);
        if at_work > SLOTS || without > 0 {
            findings.add(Figure::LimitExceeded, || {
                format!("{at_work} runs at work, {without} of them without a slot, in the second before {}", sample.at)
            });
        }
    }
    findings.totals.insert("limited_at_work", most);
}
