//! What the admin does with a run of a job of which another fire is still open. The rule applies to the whole cluster; each
//! executor applies its [`BlockStrategy`](crate::BlockStrategy) as well.

use crate::words::{first_is_default, words};

words! {
    /// The rule for a run that is due while another fire of its job is `sending` or `running`.
    pub enum Overlap: "rule for overlaps" {
        /// It is sent all the same.
        Allow = 0 "allow",
        /// It is cancelled, with the reason `overlap`.
        Skip = 1 "skip",
        /// It waits, in the order of the instants; when the job's queue is full, it is cancelled.
        Wait = 2 "wait",
        /// A kill is sent for the open runs, and it is sent when they have ended. An earlier run that still waits is cancelled.
        Cancel = 3 "cancel",
    }
}

first_is_default!(Overlap);

/// The default number of runs of a job that may wait for an earlier one.
pub const DEFAULT_QUEUE: i32 = 10;

impl Overlap {
    /// One line for the console.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Allow => "run beside it",
            Self::Skip => "skip the later run",
            Self::Wait => "wait until the earlier run has ended",
            Self::Cancel => "stop the earlier run, then run the later one",
        }
    }
}

/// The decision about a job's due fires. The numbers are their positions in the order of their instants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// Sent now.
    pub send: Vec<usize>,
    /// Decided again when an open fire has ended.
    pub wait: Vec<usize>,
    /// Never sent.
    pub cancel: Vec<usize>,
    /// A kill is sent for the runs of this many open fires, the earliest.
    pub kill: usize,
}

/// Decides about `due` fires of a job, none of which is open, in the order of their instants. `open`: how many other fires of
/// the job are open, of `max` that may be, at least one. `queue`: the number that may wait under [`Overlap::Wait`].
pub fn decide(rule: Overlap, queue: usize, (open, max): (usize, usize), due: usize) -> Decision {
    let free = max.saturating_sub(open).min(due);
    match rule {
        Overlap::Allow => Decision { send: (0..due).collect(), ..Decision::default() },
        Overlap::Skip => Decision { send: (0..free).collect(), cancel: (free..due).collect(), ..Decision::default() },
        Overlap::Wait => {
            let full = due.min(free + queue);
            Decision { send: (0..free).collect(), wait: (free..full).collect(), cancel: (full..due).collect(), kill: 0 }
        }
        // The latest replace all before them.
        Overlap::Cancel => {
            let first = due.saturating_sub(max);
            let now = (first + free).min(due);
            Decision {
                send: (first..now).collect(),
                wait: (now..due).collect(),
                cancel: (0..first).collect(),
                kill: (due - now).min(open),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(rule: Overlap, is_open: bool, due: usize) -> [Vec<usize>; 3] {
        let decision = decide(rule, 2, (is_open.into(), 1), due);
        assert_eq!(decision.kill, usize::from(rule == Overlap::Cancel && is_open && due > 0));
        [decision.send, decision.wait, decision.cancel]
    }

    // covers: 6.5
    #[test]
    fn every_rule_with_and_without_an_open_fire() {
        for (rule, free, taken) in [
            (Overlap::Allow, [vec![0, 1, 2, 3], vec![], vec![]], [vec![0, 1, 2, 3], vec![], vec![]]),
            (Overlap::Skip, [vec![0], vec![], vec![1, 2, 3]], [vec![], vec![], vec![0, 1, 2, 3]]),
            (Overlap::Wait, [vec![0], vec![1, 2], vec![3]], [vec![], vec![0, 1], vec![2, 3]]),
            (Overlap::Cancel, [vec![3], vec![], vec![0, 1, 2]], [vec![], vec![3], vec![0, 1, 2]]),
        ] {
            assert_eq!(decision(rule, false, 4), free, "{rule}, nothing open");
            assert_eq!(decision(rule, true, 4), taken, "{rule}, one open");
        }
    }

    #[test]
    fn every_rule_with_places_for_three() {
        let of = |rule, open, due| {
            let Decision { send, wait, cancel, kill } = decide(rule, 2, (open, 3), due);
            (send, wait, cancel, kill)
        };
        assert_eq!(of(Overlap::Skip, 1, 4), (vec![0, 1], vec![], vec![2, 3], 0));
        assert_eq!(of(Overlap::Wait, 2, 4), (vec![0], vec![1, 2], vec![3], 0));
        assert_eq!(of(Overlap::Wait, 4, 1), (vec![], vec![0], vec![], 0), "the number was made smaller");
        assert_eq!(of(Overlap::Cancel, 0, 4), (vec![1, 2, 3], vec![], vec![0], 0));
        assert_eq!(of(Overlap::Cancel, 2, 1), (vec![0], vec![], vec![], 0));
        assert_eq!(of(Overlap::Cancel, 3, 2), (vec![], vec![0, 1], vec![], 2));
        assert_eq!(of(Overlap::Cancel, 3, 5), (vec![], vec![2, 3, 4], vec![0, 1], 3));
    }

    #[test]
    fn each_fire_is_decided_once() {
        for &rule in Overlap::ALL {
            for (open, due) in [(0, 0), (1, 0), (0, 1), (1, 1), (0, 7), (1, 7), (2, 7), (5, 2)] {
                for max in 1..4 {
                    let Decision { send, wait, cancel, .. } = decide(rule, 2, (open, max), due);
                    let mut all = [send, wait, cancel].concat();
                    all.sort_unstable();
                    assert_eq!(all, (0..due).collect::<Vec<_>>());
                }
            }
        }
    }
}
