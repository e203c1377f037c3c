//! Random numbers that a seed repeats on every machine and with every version of every crate.

/// SplitMix64 (Steele, Lea, Flood 2014): small, well mixed, and never to be replaced by a crate's next version.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// In `0..bound`; 0 when the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or(0)
    }

    /// In `from..=to`.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    /// True with a probability of `chance` percent.
    pub fn percent(&mut self, chance: u64) -> bool {
        self.below(100) < chance
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        let index = self.below(list.len() as u64);
        list.get(index as usize)
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
}

/// One number well mixed: what a handler does is a function of its run's id, the same in every process.
pub fn mix(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A secret of 32 hexadecimal digits; not from the seed, so that no report gives it away.
pub fn secret() -> std::io::Result<String> {
    use std::io::Read as _;
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_itself() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        assert!((0..100).all(|_| a.next() == b.next()));
        let mut list: Vec<u8> = (0..50).collect();
        a.shuffle(&mut list);
        let mut sorted = list.clone();
        sorted.sort_unstable();
        assert_ne!(list, sorted);
        assert_eq!(sorted, (0..50).collect::<Vec<u8>>());
        assert!((0..1000).all(|_| (3..=5).contains(&a.between(3, 5))));
    }
}
