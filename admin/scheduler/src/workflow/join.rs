//! What a node does, by the states of the edges into it.

use super::definition::Join;
use super::edge::EdgeState;
use super::why::Branch;

/// What a join decides. The numbers are positions among the edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The node may start.
    Start,
    /// The first edge whose parent has not ended.
    Wait(usize),
    /// All edges are dead; the first one.
    Skip(usize, Branch),
    /// The first edge that is blocked.
    UpstreamFailed(usize),
}

/// The table of joins in the README. A node without edges starts.
///
/// `all` decides only when every parent has ended, also where the answer is certain earlier: a cleanup behind the node would otherwise start
/// while a parent still runs.
pub(super) fn decide(join: Join, edges: &[EdgeState]) -> Verdict {
    let first = |wanted: EdgeState| edges.iter().position(|edge| *edge == wanted);
    let (pending, taken, blocked) = (first(EdgeState::Pending), first(EdgeState::Taken), first(EdgeState::Blocked));
    match (join, pending, taken, blocked) {
        (Join::Any, _, Some(_), _) => Verdict::Start,
        (_, Some(pending), ..) => Verdict::Wait(pending),
        (_, None, _, Some(blocked)) => Verdict::UpstreamFailed(blocked),
        (Join::All, None, Some(_), None) => Verdict::Start,
        (_, None, None, None) => match edges.first() {
            Some(EdgeState::Dead(branch)) => Verdict::Skip(0, branch.clone()),
            _ => Verdict::Start,
        },
    }
}
