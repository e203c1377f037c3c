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
    /// A kill is sent for the open runs.
    pub kill_open: bool,
}

/// Decides about `due` fires of a job, none of which is open, in the order of their instants. `is_open`: another fire of
/// the job is open. `queue`: the number that may wait under [`Overlap::Wait`].
pub fn decide(rule: Overlap, queue: usize, is_open: bool, due: usize) -> Decision {
    let free = usize::from(!is_open).min(due);
    match rule {
        Overlap::Allow => Decision { send: (0..due).collect(), ..Decision::default() },
        Overlap::Skip => Decision { send: (0..free).collect(), cancel: (free..due).collect(), ..Decision::default() },
        Overlap::Wait => {
            let full = due.min(free + queue);
            Decision {
                send: (0..free).collect(),
                wait: (free..full).collect(),
                cancel: (full..due).collect(),
                kill_open: false,
            }
        }
        // The latest replaces all before it.
        Overlap::Cancel => {
            let last = due.saturating_sub(1);
            let latest = (last..due).collect();
            let (send, wait) = match is_open {
                true => (vec![], latest),
                false => (latest, vec![]),
            };
            Decision { send, wait, cancel: (0..last).collect(), kill_open: is_open && due > 0 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(rule: Overlap, is_open: bool, due: usize) -> [Vec<usize>; 3] {
        let decision = decide(rule, 2, is_open, due);
        assert_eq!(decision.kill_open, rule == Overlap::Cancel && is_open && due > 0);
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
    fn each_fire_is_decided_once() {
        for &rule in Overlap::ALL {
            for (is_open, due) in [(false, 0), (true, 0), (false, 1), (true, 1), (false, 7), (true, 7)] {
                let mut all = decision(rule, is_open, due).concat();
                all.sort_unstable();
                assert_eq!(all, (0..due).collect::<Vec<_>>());
            }
        }
    }
}
