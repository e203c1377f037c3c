//! Where within its spread a job fires, so that not everybody comes on the full hour.

use crate::Millis;

/// The most instants that are looked at; the first of them.
const MOST_INSTANTS: usize = 48;

/// The offset, 0 to `window_seconds` − 1, at which the least happens already: the sum of `load` over the seconds at
/// which `instants` (UTC ms, without an offset; the next few of the job, at most 48 count) would then lie is smallest.
/// Among several such offsets `salt`, a number of the job's own, decides: jobs that are alike do not all get the first.
///
/// `load` says how many fires there are in a second since the epoch. It is asked at most 48 times for each second of the
/// window, which is 0 to 86,400 s; one of 0 or 1 s has the offset 0.
pub fn least_loaded(instants: &[Millis], window_seconds: u32, load: impl Fn(i64) -> u32, salt: u64) -> u32 {
    let instants = &instants[..instants.len().min(MOST_INSTANTS)];
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
    offsets[(scattered(salt) % offsets.len() as u64) as usize]
}

/// Numbers of jobs follow each other; their places should not (the finaliser of SplitMix64).
const fn scattered(salt: u64) -> u64 {
    let salt = salt.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let salt = (salt ^ salt >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let salt = (salt ^ salt >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    salt ^ salt >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Millis = 1_735_689_600_000;
    const SECOND: i64 = HOUR / 1_000;

    #[test]
    fn the_quietest_second_is_taken() {
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
    fn jobs_that_are_alike_spread_evenly_and_stay_where_they_are() {
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
    fn without_a_load_the_salt_scatters() {
        let offsets: std::collections::BTreeSet<u32> =
            (0..100).map(|job| least_loaded(&[HOUR], 600, |_| 0, job)).collect();
        assert!(offsets.len() > 80, "{offsets:?}");
        assert!(offsets.iter().all(|&offset| offset < 600));
    }

    #[test]
    fn a_window_without_choice_has_no_offset() {
        assert_eq!(least_loaded(&[HOUR], 0, |_| 3, 7), 0);
        assert_eq!(least_loaded(&[HOUR], 1, |_| 3, 7), 0);
        assert!(least_loaded(&[], 10, |_| 3, 7) < 10);
    }
}
