//! The instants of the coming days that a change adds and takes away.

use std::collections::BTreeSet;

use serde::Serialize;

/// How many instants appear and disappear, and the first of each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InstantChange {
    pub appear: usize,
    pub disappear: usize,
    pub first_appear: Vec<String>,
    pub first_disappear: Vec<String>,
    /// There are more instants than were compared.
    pub is_cut: bool,
}

/// Instants of each kind that are listed.
const LISTED: usize = 3;

impl InstantChange {
    /// Of instants as the API writes them, in UTC: their order is that of the texts. `most`: neither list has more.
    pub fn between(before: &[String], after: &[String], most: usize) -> Self {
        let is_cut = before.len() >= most || after.len() >= most;
        let (before, after): (BTreeSet<&String>, BTreeSet<&String>) = (before.iter().collect(), after.iter().collect());
        // Beyond the end of a list that was cut, nothing is known.
        let ends = [&before, &after].into_iter().filter(|instants| instants.len() >= most);
        let end = ends.filter_map(|instants| instants.last().copied()).min();
        let only_in = |these: &BTreeSet<&String>, those: &BTreeSet<&String>| {
            these
                .difference(those)
                .filter(|at| end.is_none_or(|end| **at <= end))
                .map(|at| (*at).clone())
                .collect::<Vec<_>>()
        };
        let (gone, new) = (only_in(&before, &after), only_in(&after, &before));
        let first = |instants: Vec<String>| -> Vec<String> {
            instants.iter().take(LISTED).map(|at| at.replace(".000Z", "Z")).collect()
        };
        Self {
            appear: new.len(),
            disappear: gone.len(),
            first_appear: first(new),
            first_disappear: first(gone),
            is_cut,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.appear == 0 && self.disappear == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_counted_and_the_first_are_named() {
        let at =
            |hours: std::ops::Range<u32>| hours.map(|hour| format!("2026-01-01T{hour:02}:00:00Z")).collect::<Vec<_>>();
        let change = InstantChange::between(&at(0..10), &at(5..12), 100);
        assert_eq!((change.disappear, change.appear, change.is_cut), (5, 2, false));
        assert_eq!(change.first_disappear, at(0..3));
        let cut = InstantChange::between(&at(0..6), &at(3..6), 6);
        assert_eq!((cut.disappear, cut.appear, cut.is_cut), (3, 0, true));
        let cut = InstantChange::between(&at(0..4), &at(0..3), 4);
        assert_eq!((cut.disappear, cut.is_cut), (1, true));
    }
}
