//! What a handler does: a function of the run's id, so that every process, and the checker, know what its result is.

use std::time::Duration;

use crate::random::mix;

/// Parameters of jobs whose runs sometimes fail and sometimes take long.
pub const MIXED: &str = "mixed";

/// Parameters of the nodes of workflows: one run in ten fails, none takes long.
pub const FLAWED: &str = "flawed";

/// Parameters of jobs that keep a limit: a run takes about half a second, so that some of them meet.
pub const SLOW: &str = "slow";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub takes: Duration,
    pub succeeds: bool,
}

/// 2 % of the items of a delivery fail.
pub fn of_item(run: i64, item: i64) -> Work {
    let lot = mix(mix(run.unsigned_abs()) ^ item.unsigned_abs()) % 1_000;
    Work { takes: Duration::from_millis(5 + lot % 20), succeeds: lot >= 20 }
}

/// Whether a run that hands in items, or that reads their results, succeeds: one in ten fails.
pub fn of_items_run(run: i64) -> bool {
    mix(run.unsigned_abs()) % 1_000 >= 100
}

/// 5 % fail and 1 % take 20 s, or 10 % fail, if the parameters say so.
pub fn of(run: i64, params: &str) -> Work {
    let lot = mix(run.unsigned_abs()) % 1_000;
    let mixed = params == MIXED;
    let takes = match params {
        MIXED if lot >= 990 => 20_000,
        SLOW => 300 + lot % 400,
        _ => 1 + lot % 20,
    };
    Work { takes: Duration::from_millis(takes), succeeds: !(mixed && lot < 50 || params == FLAWED && lot < 100) }
}
