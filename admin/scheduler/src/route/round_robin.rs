//! Each executor in turn: the ticket selects the first, the others follow as substitutes.

pub(super) fn order(candidates: usize, ticket: u64) -> Vec<usize> {
    let first = ticket.checked_rem(candidates as u64).unwrap_or(0) as usize;
    (first..candidates).chain(0..first).collect()
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn tickets_go_round() {
        assert_eq!(order(3, 0), [0, 1, 2]);
        assert_eq!(order(3, 4), [1, 2, 0]);
        assert!(order(0, 4).is_empty());
    }
}
