//! The columns of a picture and the order within each.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::super::definition::On;
use super::super::graph::Graph;

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// A node.
    Node(usize),
    /// The edges of a node that are taken on one end, on their way to columns further right.
    Pass(usize, On),
}

/// The columns from left to right.
pub(super) struct Columns {
    /// The column of each node.
    pub ranks: Vec<usize>,
    /// The slots of each column from top to bottom.
    pub slots: Vec<Vec<Slot>>,
    /// Where each slot of a column is in its order.
    positions: Vec<BTreeMap<Slot, usize>>,
}

impl Columns {
    pub(super) fn new(graph: &Graph) -> Self {
        let ranks = ranks(graph);
        let mut slots = vec![vec![]; ranks.iter().max().map_or(0, |last| last + 1)];
        for (node, &rank) in ranks.iter().enumerate() {
            slots[rank].push(Slot::Node(node));
        }
        for ((from, on), last) in farthest(graph, &ranks) {
            (ranks[from] + 1..last).for_each(|rank| slots[rank].push(Slot::Pass(from, on)));
        }
        let mut columns = Self { ranks, positions: slots.iter().map(|column| positions(column)).collect(), slots };
        columns.sweep(graph);
        columns
    }

    /// The slots of an edge, one in each column from its parent to its child.
    pub(super) fn steps(&self, from: usize, to: usize, on: On) -> Vec<Slot> {
        let passes = (self.ranks[from] + 1..self.ranks[to]).map(|_| Slot::Pass(from, on));
        std::iter::once(Slot::Node(from)).chain(passes).chain([Slot::Node(to)]).collect()
    }

    /// Once to the right by the parents, once to the left by the children.
    fn sweep(&mut self, graph: &Graph) {
        let mut links = vec![];
        for (to, node) in graph.nodes.iter().enumerate() {
            for edge in &node.after {
                let steps = self.steps(edge.from, to, edge.on);
                links.extend(
                    steps.windows(2).enumerate().map(|(at, pair)| (self.ranks[edge.from] + at, pair[0], pair[1])),
                );
            }
        }
        links.sort_unstable();
        links.dedup();
        for rank in 1..self.slots.len() {
            let pairs = links.iter().filter(|link| link.0 + 1 == rank).map(|&(_, left, right)| (right, left));
            self.sort(rank, rank - 1, &pairs.collect::<Vec<_>>());
        }
        for rank in (1..self.slots.len()).rev() {
            let pairs = links.iter().filter(|link| link.0 + 1 == rank).map(|&(_, left, right)| (left, right));
            self.sort(rank - 1, rank, &pairs.collect::<Vec<_>>());
        }
    }

    /// Sorts a column by the mean position of the neighbours in another one; `pairs` has slots of the first and of the second.
    fn sort(&mut self, rank: usize, other: usize, pairs: &[(Slot, Slot)]) {
        let mut sums: BTreeMap<Slot, (usize, usize)> = BTreeMap::new();
        for (slot, neighbour) in pairs {
            let (sum, count) = sums.entry(*slot).or_default();
            *sum += self.positions[other][neighbour];
            *count += 1;
        }
        // A slot without a neighbour stays about where it is.
        let mean = |slot: &Slot| sums.get(slot).copied().unwrap_or((self.positions[rank][slot], 1));
        let order = |one: &Slot, other: &Slot| -> Ordering {
            let ((sum, count), (other_sum, other_count)) = (mean(one), mean(other));
            (sum * other_count).cmp(&(other_sum * count))
        };
        let mut sorted = self.slots[rank].clone();
        sorted.sort_by(order);
        self.positions[rank] = positions(&sorted);
        self.slots[rank] = sorted;
    }
}

/// The longest path to each node, in edges.
fn ranks(graph: &Graph) -> Vec<usize> {
    let mut ranks = vec![0; graph.nodes.len()];
    for &node in graph.order() {
        ranks[node] = graph.nodes[node].after.iter().map(|edge| ranks[edge.from] + 1).max().unwrap_or(0);
    }
    ranks
}

/// The last column that the edges of a node on one end reach.
fn farthest(graph: &Graph, ranks: &[usize]) -> BTreeMap<(usize, On), usize> {
    let mut farthest = BTreeMap::new();
    for (to, node) in graph.nodes.iter().enumerate() {
        for edge in &node.after {
            let last = farthest.entry((edge.from, edge.on)).or_insert(0);
            *last = ranks[to].max(*last);
        }
    }
    farthest
}

fn positions(column: &[Slot]) -> BTreeMap<Slot, usize> {
    column.iter().enumerate().map(|(position, &slot)| (slot, position)).collect()
}
