//! How the database's clock is followed: a little at a time, and a jump only when it is confirmed.

use super::{AGREE_MS, Observed, Sample};

/// What a single observation may move the clock by, in ms.
const SLEW_MS: i64 = 50;
/// A larger difference is a step and needs confirmation, in ms.
const STEP_MS: i64 = 5_000;
/// Agreeing samples that a step needs.
const STEP_SAMPLES: u32 = 3;

/// How the database's clock is followed. All offsets are "epoch ms − monotonic ms".
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) offset: i64,
    observed: bool,
    step: Option<(i64, u32)>,
}

impl Followed {
    pub(super) const fn from(offset: i64) -> Self {
        Self { offset, observed: false, step: None }
    }

    pub(super) fn observe(&mut self, sample: Sample) -> Observed {
        // An answer that was long on its way says little: where ours is possible, or nearly so, it moves as little as it
        // must. Taking the middle would move it by half of what a busy database makes us wait.
        let nearest = self.offset.clamp(sample.earliest(), sample.latest());
        let asks_for = match (nearest - self.offset).abs() <= SLEW_MS {
            true => nearest,
            false => sample.middle(),
        };
        self.move_to(asks_for, sample.confirmed)
    }

    /// `sample` is the offset that the database's answer asks for.
    fn move_to(&mut self, sample: i64, confirmed: bool) -> Observed {
        let difference = sample - self.offset;
        if !self.observed {
            self.observed = true;
            self.offset = sample;
            return Observed::Slewed { by: difference };
        }
        if difference.abs() <= STEP_MS {
            self.step = None;
            let by = difference.clamp(-SLEW_MS, SLEW_MS);
            self.offset += by;
            return Observed::Slewed { by };
        }
        self.confirm(sample, difference, confirmed)
    }

    /// Samples are compared with the first of their row, so a drifting clock cannot walk through the guard.
    fn confirm(&mut self, sample: i64, difference: i64, confirmed: bool) -> Observed {
        let (first, samples) = match self.step {
            Some((first, samples)) if (sample - first).abs() <= AGREE_MS => (first, samples + 1),
            _ => (sample, 1),
        };
        if samples < STEP_SAMPLES || !confirmed {
            self.step = Some((first, samples));
            return Observed::Held { samples };
        }
        self.step = None;
        self.offset = sample;
        Observed::Stepped { by: difference }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(offset: i64) -> Followed {
        let mut followed = Followed::from(0);
        assert_eq!(followed.move_to(offset, true), Observed::Slewed { by: offset });
        followed
    }

    #[test]
    fn slews_at_most_50_ms() {
        let mut clock = followed(1_000_000);
        assert_eq!(clock.move_to(1_000_020, true), Observed::Slewed { by: 20 });
        assert_eq!(clock.move_to(1_003_000, true), Observed::Slewed { by: 50 });
        assert_eq!(clock.move_to(996_000, true), Observed::Slewed { by: -50 });
        assert_eq!(clock.offset, 1_000_020);
    }

    #[test]
    fn a_step_needs_three_samples_that_agree() {
        let mut clock = followed(0);
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
        let mut clock = followed(0);
        for samples in 1..10 {
            assert_eq!(clock.move_to(60_000, false), Observed::Held { samples });
        }
        assert_eq!(clock.offset, 0);
        assert_eq!(clock.move_to(60_000, true), Observed::Stepped { by: 60_000 });
    }

    #[test]
    fn one_near_sample_forgets_the_step() {
        let mut clock = followed(0);
        clock.move_to(-9_000, true);
        clock.move_to(-9_000, true);
        assert_eq!(clock.move_to(0, true), Observed::Slewed { by: 0 });
        assert_eq!(clock.move_to(-9_000, true), Observed::Held { samples: 1 });
    }
}
