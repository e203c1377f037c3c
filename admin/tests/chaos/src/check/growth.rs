//! Memory and descriptors: what a long run needs in its last third, it needed in its middle one.

use super::Figure;
use super::Findings;
use super::lateness::percentile;
use crate::record::{History, Sample};

/// A shorter run says nothing.
const LONG_SECONDS: u64 = 900;
/// What caches, pools and a busier minute may add to the median: a quarter, and MiB or descriptors.
const SLACK: i64 = 32;

struct Measure {
    before: &'static str,
    after: &'static str,
    of: fn(&Sample) -> i64,
}

const MEASURES: [Measure; 2] = [
    Measure {
        before: "rss_mib_middle_third",
        after: "rss_mib_last_third",
        of: |sample| (sample.rss_kib / 1024) as i64,
    },
    Measure {
        before: "descriptors_middle_third",
        after: "descriptors_last_third",
        of: |sample| sample.descriptors as i64,
    },
];

pub fn check(history: &History, findings: &mut Findings) {
    if history.meta.seconds < LONG_SECONDS {
        return;
    }
    let phases = &history.meta.phases;
    let third = (phases.faults_to - phases.faults_from) / 3;
    for Measure { before, after, of } in MEASURES {
        let [middle, last] = [1, 2].map(|number| {
            let from = phases.faults_from + number * third;
            median(history, from, from + third, of)
        });
        findings.totals.insert(before, middle);
        findings.totals.insert(after, last);
        if last > middle + middle / 4 + SLACK {
            findings.add(Figure::Growth, || format!("{before} {middle}, {after} {last}"));
        }
    }
}

/// The median over all nodes.
fn median(history: &History, from: i64, to: i64, of: fn(&Sample) -> i64) -> i64 {
    let within = |sample: &&Sample| sample.rss_kib > 0 && (from..to).contains(&sample.at);
    let mut all: Vec<i64> = history.samples.iter().filter(within).map(of).collect();
    all.sort_unstable();
    percentile(&all, 50)
}
