//! What the checker has found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::lateness::Times;
use super::unknown_outcomes::UnknownOutcomes;

/// Examples kept of each kind.
const EXAMPLES: usize = 20;

/// One kind of anomaly: 0 in a run that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// A required instant has neither a run nor a range.
    MissedUnrecorded,
    /// An instant has two of them.
    RecordedTwice,
    /// A run or a range for something that is no instant.
    Phantom,
    /// An instant was recorded, nothing was received, and no reason is given.
    SilentLoss,
    /// More than one delivery for a fire that may have one.
    AmoDuplicate,
    /// More deliveries than attempts, or more attempts than allowed.
    AloExcess,
    /// More receipts of a run than its row admits.
    UndeclaredSend,
    /// An executor of our own began a run twice.
    StartedTwice,
    /// Its batch was cut at an executor of ours, which keeps a journal, and its outcome is still unknown.
    CutUnresolved,
    /// Received before its instant.
    Early,
    /// Received, and there is no row.
    OrphanReceipt,
    /// Succeeded, and no executor received it.
    PhantomResult,
    /// A result was acknowledged and is not what the row says.
    CbLost,
    /// A living executor's result was never taken.
    CbMissing,
    /// Attempt 3 without attempt 2.
    AttemptGap,
    /// A failure that allows a further attempt has none.
    RetryMissing,
    ChildMissing,
    ChildTwice,
    /// A node of a workflow has two first runs.
    NodeTwice,
    /// It started although its join did not hold, or before a parent that it waits for had ended.
    JoinEarly,
    /// Its join holds, and it has not started.
    NodeMissing,
    /// The run of a workflow has another end than its nodes give it.
    FlowEnd,
    /// An item is in two deliveries, or was executed more often than it may be.
    ItemTwice,
    /// An item was delivered before its run had succeeded, or results were read before all deliveries had ended.
    ItemEarly,
    /// An item was executed after the result of its delivery had been taken.
    ItemAfterEnd,
    /// An item has no delivery or no outcome although its run has ended.
    ItemMissing,
    /// An item has another outcome than executors have seen.
    ItemOutcome,
    /// A run that has handed in items has another end than they give it.
    MapEnd,
    /// A delayed trigger has no run although its time has come, or has two.
    DelayedMissing,
    DelayedTwice,
    /// The run of a delayed trigger has a time that was not asked for.
    DelayedTime,
    /// Cancelled and not asked to be, or sent although the answer was that it never would be.
    DelayedCancel,
    /// More runs were at work than their limit allows, or one without a slot.
    LimitExceeded,
    /// An executor has called a loop under a grant that had been followed by another one's.
    LoopTwice,
    /// Two starts of executors have called a loop under one epoch.
    LoopEpoch,
    /// A loop stood still for longer than faults allow.
    LoopGap,
    /// Marked although a disable or delete had been answered.
    MarkedAfterDisable,
    /// A row that is still open at the end.
    Stuck,
    /// A run that left for an executor after its good-bye.
    SentAfterLeave,
    /// A node that ended by itself, or not in order when asked.
    BadExit,
    /// Deliveries without keys: one too many, one too few.
    Extra,
    Missed,
    /// Later than the bound of its class of faults.
    Late,
    /// Memory or descriptors that a long run needs more and more of.
    Growth,
}

impl Figure {
    pub const ALL: [Self; 44] = [
        Self::MissedUnrecorded,
        Self::RecordedTwice,
        Self::Phantom,
        Self::SilentLoss,
        Self::AmoDuplicate,
        Self::AloExcess,
        Self::UndeclaredSend,
        Self::StartedTwice,
        Self::CutUnresolved,
        Self::Early,
        Self::OrphanReceipt,
        Self::PhantomResult,
        Self::CbLost,
        Self::CbMissing,
        Self::AttemptGap,
        Self::RetryMissing,
        Self::ChildMissing,
        Self::ChildTwice,
        Self::NodeTwice,
        Self::JoinEarly,
        Self::NodeMissing,
        Self::FlowEnd,
        Self::ItemTwice,
        Self::ItemEarly,
        Self::ItemAfterEnd,
        Self::ItemMissing,
        Self::ItemOutcome,
        Self::MapEnd,
        Self::DelayedMissing,
        Self::DelayedTwice,
        Self::DelayedTime,
        Self::DelayedCancel,
        Self::LimitExceeded,
        Self::LoopTwice,
        Self::LoopEpoch,
        Self::LoopGap,
        Self::MarkedAfterDisable,
        Self::Stuck,
        Self::SentAfterLeave,
        Self::BadExit,
        Self::Extra,
        Self::Missed,
        Self::Late,
        Self::Growth,
    ];

    /// As it is spelled in the reports.
    pub fn name(self) -> String {
        let value = serde_json::to_value(self).unwrap_or_default();
        value.as_str().unwrap_or_default().to_owned()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Findings {
    counts: BTreeMap<Figure, u64>,
    examples: BTreeMap<Figure, Vec<String>>,
    /// Figures that are no anomalies: expected, recorded, unknown …
    pub totals: BTreeMap<&'static str, i64>,
    pub skipped: BTreeMap<String, i64>,
    pub times: Times,
    /// One entry for each kill of the rehearsal `unknown_outcomes`.
    pub unknown_outcomes: Vec<UnknownOutcomes>,
}

impl Findings {
    pub fn add(&mut self, figure: Figure, example: impl FnOnce() -> String) {
        *self.counts.entry(figure).or_default() += 1;
        let examples = self.examples.entry(figure).or_default();
        if examples.len() < EXAMPLES {
            examples.push(example());
        }
    }

    pub fn count(&self, figure: Figure) -> u64 {
        self.counts.get(&figure).copied().unwrap_or(0)
    }

    pub fn anomalies(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Without those that a busy machine alone could cause.
    pub fn anomalies_of_correctness(&self) -> u64 {
        let timely = [Figure::Late, Figure::BadExit, Figure::Stuck, Figure::Growth];
        let counts = self.counts.iter().filter(|(figure, _)| !timely.contains(figure));
        counts.map(|(_, count)| count).sum()
    }

    pub fn examples(&self) -> impl Iterator<Item = (Figure, &String)> {
        let each = self.examples.iter();
        each.flat_map(|(figure, list)| list.iter().map(|text| (*figure, text)))
    }

    pub fn total(&mut self, name: &'static str, count: usize) {
        *self.totals.entry(name).or_default() += count as i64;
    }
}
