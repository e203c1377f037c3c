//! The lines of the edges.

use std::collections::BTreeSet;

use super::super::definition::On;
use super::super::graph::Graph;
use super::columns::Columns;
use super::places::Places;
use super::shapes::EdgePath;

/// The edges, by child, parent and kind.
pub(super) fn edges(graph: &Graph, columns: &Columns, places: &Places) -> Vec<EdgePath> {
    let edges = graph.nodes.iter().enumerate().flat_map(|(to, node)| node.after.iter().map(move |edge| (to, edge)));
    let drawn: BTreeSet<(usize, usize, On)> = edges.map(|(to, edge)| (to, edge.from, edge.on)).collect();
    drawn
        .into_iter()
        .map(|(to, from, on)| EdgePath { from, to, on, points: points(columns, places, from, to, on) })
        .collect()
}

fn points(columns: &Columns, places: &Places, from: usize, to: usize, on: On) -> Vec<(i32, i32)> {
    let steps = columns.steps(from, to, on);
    let first = columns.ranks[from];
    let mut y = places.y(first, steps[0], on);
    let mut points = vec![(places.right(first), y)];
    for (at, pair) in steps.windows(2).enumerate() {
        let rank = first + at;
        let next = places.y(rank + 1, pair[1], on);
        if let Some(x) = places.lane((rank, pair[0], on)).filter(|_| next != y) {
            points.extend([(x, y), (x, next)]);
        }
        y = next;
    }
    points.push((places.left(columns.ranks[to]), y));
    points
}
