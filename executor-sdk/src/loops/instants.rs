//! The instants of a loop, in the admin's time, in ms.

use carillon_protocol::LoopTiming;

/// The instants that have come since the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Due {
    /// The last of them, which is to be called.
    pub(super) latest: i64,
    /// How many came before it: they are skipped.
    pub(super) passed: u64,
}

/// The first instant after `last`; `None`: it is not known yet.
pub(super) fn next_after(timing: &LoopTiming, last: i64) -> Option<i64> {
    match timing {
        LoopTiming::Rate { period_ms, from } => {
            let period = i64::from(*period_ms).max(1);
            let number = last.checked_sub(*from)?.div_euclid(period).checked_add(1)?;
            from.checked_add(number.checked_mul(period)?)
        }
        LoopTiming::Delay { delay_ms } => last.checked_add(i64::from(*delay_ms)),
        LoopTiming::Instants { at } => at.iter().copied().find(|at| *at > last),
    }
}

/// What has come after `last` and up to `now`; `None`: nothing.
pub(super) fn due(timing: &LoopTiming, last: i64, now: i64) -> Option<Due> {
    let first = next_after(timing, last).filter(|first| *first <= now)?;
    Some(match timing {
        LoopTiming::Rate { period_ms, .. } => {
            let passed = (now - first) / i64::from(*period_ms).max(1);
            Due { latest: first + passed * i64::from(*period_ms).max(1), passed: passed.unsigned_abs() }
        }
        LoopTiming::Delay { .. } => Due { latest: first, passed: 0 },
        LoopTiming::Instants { at } => {
            let come = at.iter().copied().filter(|at| (first..=now).contains(at));
            Due { latest: come.clone().max().unwrap_or(first), passed: come.count().saturating_sub(1) as u64 }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_its_instants_on_both_sides_of_where_it_counts_from() {
        let rate = LoopTiming::Rate { period_ms: 50, from: 1_020 };
        for (last, next) in [(0, 20), (19, 20), (20, 70), (1_019, 1_020), (1_020, 1_070), (-40, -30), (-30, 20)] {
            assert_eq!(next_after(&rate, last), Some(next), "after {last}");
        }
        assert_eq!(next_after(&rate, i64::MAX), None);
        assert_eq!(due(&rate, 1_020, 1_069), None);
        assert_eq!(due(&rate, 1_020, 1_070), Some(Due { latest: 1_070, passed: 0 }));
        assert_eq!(due(&rate, 1_020, 1_225), Some(Due { latest: 1_220, passed: 3 }));
        let zero = LoopTiming::Rate { period_ms: 0, from: 0 };
        assert_eq!(next_after(&zero, 7), Some(8), "a period of nothing does not hold the process up");
    }

    #[test]
    fn a_delay_counts_from_the_last_end_and_skips_nothing() {
        let delay = LoopTiming::Delay { delay_ms: 200 };
        assert_eq!((due(&delay, 1_000, 1_199), next_after(&delay, 1_000)), (None, Some(1_200)));
        assert_eq!(due(&delay, 1_000, 9_000), Some(Due { latest: 1_200, passed: 0 }));
    }

    #[test]
    fn a_list_of_instants_ends() {
        let list = LoopTiming::Instants { at: vec![10, 20, 30] };
        assert_eq!([9, 10, 29, 30].map(|last| next_after(&list, last)), [Some(10), Some(20), Some(30), None]);
        assert_eq!(due(&list, 0, 25), Some(Due { latest: 20, passed: 1 }));
        assert_eq!(due(&list, 20, 99), Some(Due { latest: 30, passed: 0 }));
        assert_eq!(due(&list, 30, 99), None);
    }
}
