//! Follows the database's clock in small steps, and takes a large step only when it is confirmed.

use super::sample::{AGREE_MS, Observed, Sample};

/// The most that one observation moves the clock by, in ms.
const SLEW_MS: i64 = 50;
/// A greater difference is a step, which needs confirmation, in ms.
const STEP_MS: i64 = 5_000;
/// Agreeing samples that a step needs.
const STEP_SAMPLES: u32 = 3;

/// The offset of the clock that is followed. All offsets are "epoch ms − monotonic ms".
#[derive(Debug)]
pub(super) struct StepGuard {
    pub(super) offset: i64,
    observed: bool,
    /// A step that is not confirmed yet: the offset of its first sample, and how many samples agree with that one.
    step: Option<(i64, u32)>,
}

impl StepGuard {
    pub(super) const fn new(offset: i64) -> Self {
        Self { offset, observed: false, step: None }
    }

    pub(super) fn observe(&mut self, sample: Sample) -> Observed {
        // A slow round trip allows a wide range of offsets. If ours is in the range, or close to it, it moves only to the
        // edge of the range: the middle would move it by half the latency of a busy database.
        let nearest = self.offset.clamp(sample.min_offset(), sample.max_offset());
        let target = match (nearest - self.offset).abs() <= SLEW_MS {
            true => nearest,
            false => sample.middle_offset(),
        };
        self.move_to(target, sample.confirmed)
    }

    /// Moves towards `target`, the offset according to the database.
    fn move_to(&mut self, target: i64, confirmed: bool) -> Observed {
        let difference = target - self.offset;
        if !self.observed {
            self.observed = true;
            self.offset = target;
            return Observed::Slewed { by: difference };
        }
        if difference.abs() <= STEP_MS {
            self.step = None;
            let by = difference.clamp(-SLEW_MS, SLEW_MS);
            self.offset += by;
            return Observed::Slewed { by };
        }
        self.confirm(target, difference, confirmed)
    }

    /// Compares each sample with the first one of the step, so that a drifting clock does not pass as a step.
    fn confirm(&mut self, target: i64, difference: i64, confirmed: bool) -> Observed {
        let (first, samples) = match self.step {
            Some((first, samples)) if (target - first).abs() <= AGREE_MS => (first, samples + 1),
            _ => (target, 1),
        };
        if samples < STEP_SAMPLES || !confirmed {
            self.step = Some((first, samples));
            return Observed::Held { samples };
        }
        self.step = None;
        self.offset = target;
        Observed::Stepped { by: difference }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard_at(offset: i64) -> StepGuard {
        let mut guard = StepGuard::new(0);
        assert_eq!(guard.move_to(offset, true), Observed::Slewed { by: offset });
        guard
    }

    #[test]
    fn slews_at_most_50_ms() {
        let mut clock = guard_at(1_000_000);
        assert_eq!(clock.move_to(1_000_020, true), Observed::Slewed { by: 20 });
        assert_eq!(clock.move_to(1_003_000, true), Observed::Slewed { by: 50 });
        assert_eq!(clock.move_to(996_000, true), Observed::Slewed { by: -50 });
        assert_eq!(clock.offset, 1_000_020);
    }

    #[test]
    fn a_step_needs_three_samples_that_agree() {
        let mut clock = guard_at(0);
        assert_eq!(clock.move_to(60_000, true), Observed::Held { samples: 1 });
        assert_eq!(clock.move_to(61_000, true), Observed::Held { samples: 2 });
        assert_eq!(clock.move_to(70_000, true), Observed::Held { samples: 1 });
        assert_eq!(clock.move_to(70_000, true), Observed::Held { samples: 2 });
        assert_eq!(clock.offset, 0, "a held sample moves nothing");
        assert_eq!(clock.move_to(70_500, true), Observed::Stepped { by: 70_500 });
        assert_eq!(clock.offset, 70_500);
    }

    // covers: H16
    #[test]
    fn a_step_that_no_other_clock_confirms_is_not_taken() {
        let mut clock = guard_at(0);
        for samples in 1..10 {
            assert_eq!(clock.move_to(60_000, false), Observed::Held { samples });
        }
        assert_eq!(clock.offset, 0);
        assert_eq!(clock.move_to(60_000, true), Observed::Stepped { by: 60_000 });
    }

    #[test]
    fn one_near_sample_discards_the_step() {
        let mut clock = guard_at(0);
        clock.move_to(-9_000, true);
        clock.move_to(-9_000, true);
        assert_eq!(clock.move_to(0, true), Observed::Slewed { by: 0 });
        assert_eq!(clock.move_to(-9_000, true), Observed::Held { samples: 1 });
    }
}
