//! Reports as they are kept: no longer than an executor of ours makes them.

use carillon_protocol::{LOOP_LATENESS_MS, LoopReport, MAX_LOOP_TEXT_BYTES};

/// A report as JSON, cut to what is kept.
pub(super) fn kept_report(mut report: LoopReport) -> String {
    report.counters.lateness.truncate(LOOP_LATENESS_MS.len() + 1);
    if let Some(failure) = &mut report.last_failure {
        failure.text.truncate(failure.text.floor_char_boundary(MAX_LOOP_TEXT_BYTES));
    }
    serde_json::to_string(&report).unwrap_or_default()
}

/// The same of a report that is JSON; None: it cannot be read.
pub(super) fn cut_report(report: &str) -> Option<String> {
    serde_json::from_str(report).ok().map(kept_report)
}

#[cfg(test)]
mod tests {
    use carillon_protocol::{LoopCounters, LoopFailure};

    use super::*;

    #[test]
    fn what_is_too_long_is_cut() {
        let counters = LoopCounters { lateness: vec![7; 10_000], ..LoopCounters::default() };
        let failure = LoopFailure { at: 1, text: format!("x{}", "é".repeat(10_000)) };
        let report = LoopReport { job_id: 1, epoch: 2, counters, last_failure: Some(failure), ..LoopReport::default() };
        let kept: LoopReport = serde_json::from_str(&kept_report(report.clone())).unwrap();
        assert_eq!(kept.counters.lateness, [7; LOOP_LATENESS_MS.len() + 1]);
        assert_eq!(
            kept.last_failure.map(|it| it.text.len()),
            Some(MAX_LOOP_TEXT_BYTES - 1),
            "at the end of a character"
        );
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(cut_report(&text), Some(kept_report(report)));
        assert_eq!(cut_report("spoilt"), None);
    }
}
