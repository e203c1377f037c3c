//! What the rounds of the services with a report of their own did.

use crate::complete::completer::CompleteReport;
use crate::dispatch::dispatcher::DispatchReport;
use crate::lease::coordinator::LeaseReport;
use crate::plan::scanner::ScanReport;
use crate::runtime::round_report::{Counts, RoundReport, without_zeros};

impl RoundReport for ScanReport {
    fn counts(&self) -> Counts {
        without_zeros([
            ("claimed", self.claimed),
            ("released", self.released),
            ("adopted", self.adopted),
            ("skipped", self.skipped),
            ("paused", self.paused),
        ])
    }
}

impl RoundReport for DispatchReport {
    fn counts(&self) -> Counts {
        without_zeros([
            ("sent", self.sent),
            ("probed", self.asked),
            ("waiting", self.waiting),
            ("failed", self.failed),
            ("cancelled", self.cancelled),
        ])
    }
}

impl RoundReport for CompleteReport {
    fn counts(&self) -> Counts {
        without_zeros([("settled", self.settled), ("accepted", self.accepted)])
    }
}

impl RoundReport for LeaseReport {
    fn counts(&self) -> Counts {
        without_zeros([("taken", self.taken), ("lost", self.lost)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_what_is_not_zero() {
        let report = ScanReport { claimed: 3, paused: 1, ..ScanReport::default() };
        assert_eq!(report.counts(), [("claimed", 3), ("paused", 1)]);
        assert_eq!((0.counts(), ().counts()), (vec![], vec![]));
    }
}
