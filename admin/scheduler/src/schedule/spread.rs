//! The offset of a job within its spread, so that not all jobs fire on the full hour.

use crate::shard::mix;
use crate::time::Millis;

/// How many of the given instants are considered.
const MAX_INSTANTS: usize = 48;

/// The offset, 0 to `window_seconds` − 1, with the least load: it minimises the sum of `load` over the seconds of
/// `instants` (the next instants of the job in UTC ms, without an offset; at most 48 count) moved by the offset. Among
/// equal offsets `salt`, a number of the job, decides, so that similar jobs do not all get the first one.
///
/// `load` returns the number of fires in a second since the epoch. It is called at most 48 times for each second of the
/// window, which has 0 to 86,400 s. For a window of 0 or 1 s the offset is 0.
pub fn least_loaded(instants: &[Millis], window_seconds: u32, load: impl Fn(i64) -> u32, salt: u64) -> u32 {
    let instants = &instants[..instants.len().min(MAX_INSTANTS)];
    let sum = |offset: u32| -> u64 {
        let seconds = instants.iter().map(|at| at.div_euclid(1_000));
        seconds.map(|second| u64::from(load(second + i64::from(offset)))).sum()
    };
    let (mut least, mut offsets) = (u64::MAX, Vec::new());
    for offset in 0..window_seconds.max(1) {
        let sum = sum(offset);
        if sum < least {
            (least, offsets) = (sum, Vec::new());
        }
        if sum == least {
            offsets.push(offset);
        }
    }
    // The numbers of jobs are consecutive; mixing spreads them.
    offsets[(mix(salt) % offsets.len() as u64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Millis = 1_735_689_600_000;
    const SECOND: i64 = HOUR / 1_000;

    #[test]
    fn the_second_with_the_least_load_is_chosen() {
        let load = |second: i64| u32::from(second - SECOND != 417);
        assert_eq!(least_loaded(&[HOUR], 600, load, 1), 417);
        let twice = [HOUR, HOUR + 3_600_000];
        let load = |second: i64| match second - SECOND {
            5 => 0,
            3_605 => 9,
            7 | 3_607 => 1,
            _ => 2,
        };
        assert_eq!(least_loaded(&twice, 600, load, 1), 7, "the sum counts");
    }

    #[test]
    fn similar_jobs_spread_evenly_and_keep_their_offset() {
        let mut load = vec![0_u32; 600];
        for job in 0..6_000 {
            let at = |second: i64| load[(second - SECOND) as usize];
            let offset = least_loaded(&[HOUR], 600, at, job);
            assert_eq!(offset, least_loaded(&[HOUR], 600, at, job));
            load[offset as usize] += 1;
        }
        assert!(load.iter().all(|&jobs| jobs == 10), "{load:?}");
    }

    #[test]
    fn without_load_the_salt_spreads_the_offsets() {
        let offsets: std::collections::BTreeSet<u32> =
            (0..100).map(|job| least_loaded(&[HOUR], 600, |_| 0, job)).collect();
        assert!(offsets.len() > 80, "{offsets:?}");
        assert!(offsets.iter().all(|&offset| offset < 600));
    }

    #[test]
    fn a_window_of_at_most_a_second_has_no_offset() {
        assert_eq!(least_loaded(&[HOUR], 0, |_| 3, 7), 0);
        assert_eq!(least_loaded(&[HOUR], 1, |_| 3, 7), 0);
        assert!(least_loaded(&[], 10, |_| 3, 7) < 10);
    }
}
