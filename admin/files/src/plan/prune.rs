//! How many jobs one apply may delete without being asked.

use std::fmt;

/// A tenth of the set, at least one job and at most this number.
const MOST: usize = 20;

/// More jobs would be deleted than the limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    pub deleted: usize,
    pub owned: usize,
    pub limit: usize,
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { deleted, owned, limit } = self;
        write!(
            f,
            "{deleted} of {owned} jobs of the set would be deleted, and the limit is {limit}; if that is right, add --prune-limit {deleted}"
        )
    }
}

/// `owned`: jobs of the set on the server. `limit`: the number that the user allows.
///
/// # Errors
/// More would be deleted.
pub fn check_limit(deleted: usize, owned: usize, limit: Option<usize>) -> Result<(), OverLimit> {
    let limit = limit.unwrap_or_else(|| (owned / 10).clamp(1, MOST));
    if deleted <= limit { Ok(()) } else { Err(OverLimit { deleted, owned, limit }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_or_twenty_may_go() {
        for (deleted, owned, is_fine) in
            [(1, 2, true), (2, 10, false), (5, 50, true), (6, 50, false), (20, 999, true), (21, 999, false)]
        {
            assert_eq!(check_limit(deleted, owned, None).is_ok(), is_fine, "{deleted} of {owned}");
        }
        assert_eq!(check_limit(30, 40, Some(30)), Ok(()));
        let said = check_limit(30, 40, None).unwrap_err().to_string();
        assert!(said.ends_with("add --prune-limit 30"), "{said}");
    }
}
