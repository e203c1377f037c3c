//! The sums of a loop over all its grants.

use carillon_protocol::{LoopCounters, LoopReport};
use carillon_store::lease::loops::LoopLease;

/// Of the grants that have ended and the one that is reported. What cannot be read counts as nothing.
pub fn totals(lease: &LoopLease) -> LoopCounters {
    let mut counters: LoopCounters = serde_json::from_str(&lease.counters).unwrap_or_default();
    if let Some(report) = last_report(lease) {
        counters.add(&report.counters);
    }
    counters
}

pub(super) fn last_report(lease: &LoopLease) -> Option<LoopReport> {
    serde_json::from_str(&lease.report).ok()
}

/// The sums as the next grant keeps them: no call goes on any more that would be counted.
pub(super) fn kept_totals(lease: &LoopLease) -> String {
    let counters = LoopCounters { running: 0, ..totals(lease) };
    serde_json::to_string(&counters).unwrap_or_default()
}

/// A loop whose grant has ended.
#[cfg(test)]
pub(super) fn ended_lease(counters: &str, report: &str) -> LoopLease {
    LoopLease {
        job_id: 1,
        shard: 0,
        is_wanted: true,
        epoch: 3,
        app_id: 1,
        address: String::new(),
        boot_id: String::new(),
        is_stopped: true,
        expires_at: 0,
        granted_at: 0,
        reported_at: 0,
        counters: counters.to_owned(),
        report: report.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_go_on_from_grant_to_grant() {
        let report = r#"{"jobId":1,"epoch":3,"counters":{"fired":10,"succeeded":9,"running":1}}"#;
        let first = kept_totals(&ended_lease("", report));
        let second = totals(&ended_lease(&first, report));
        assert_eq!((second.fired, second.succeeded, second.running), (20, 18, 1));
        assert_eq!(totals(&ended_lease(&first, "")).fired, 10);
        assert_eq!(totals(&ended_lease("spoilt", "by hand")), LoopCounters::default());
    }
}
