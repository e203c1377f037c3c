//! The places of the slots of a picture, and the lanes between its columns.

use std::collections::BTreeMap;

use super::super::definition::On;
use super::super::graph::Graph;
use super::columns::{Columns, Slot};
use super::shapes::NodeBox;

/// Around the picture.
const MARGIN: i32 = 16;
/// Height of a box.
const BOX_HEIGHT: i32 = 44;
/// Width of a character of a name.
const CHAR_WIDTH: i32 = 8;
/// What a box needs beside its name.
const BOX_PADDING: i32 = 40;
/// Range of the width of a box; a longer name has to be shortened.
const BOX_WIDTH: (i32, i32) = (112, 264);
/// Height of the place of an edge that passes a column.
const PASS_HEIGHT: i32 = 12;
/// Between two slots of a column.
const GAP: i32 = 16;
/// Between a column and the nearest lane.
const LANE_MARGIN: i32 = 16;
/// Between two lanes.
const LANE_WIDTH: i32 = 10;
/// Between the ends of edges of different kinds at one box.
const PORT_DISTANCE: i32 = 10;

/// The vertical line of one source between two columns: its column, its slot and the kind of the edges.
pub(super) type Trunk = (usize, Slot, On);

/// Where everything lies.
pub(super) struct Places {
    pub width: i32,
    pub height: i32,
    box_width: i32,
    /// The left side of each column.
    lefts: Vec<i32>,
    /// The upper side of each slot, by column.
    tops: Vec<BTreeMap<Slot, i32>>,
    /// The x of each vertical line.
    lanes: BTreeMap<Trunk, i32>,
}

impl Places {
    pub(super) fn new(graph: &Graph, columns: &Columns) -> Self {
        let chars = graph.nodes.iter().map(|node| node.name.len()).max().unwrap_or(0);
        let chars = i32::try_from(chars).unwrap_or(i32::MAX).min(BOX_WIDTH.1);
        let box_width = (chars * CHAR_WIDTH + BOX_PADDING).clamp(BOX_WIDTH.0, BOX_WIDTH.1);
        let height = columns.slots.iter().map(|column| column_height(column)).max().unwrap_or(0) + 2 * MARGIN;
        let tops = columns.slots.iter().map(|column| tops(column, height)).collect();
        let mut places = Self { width: 0, height, box_width, lefts: vec![], tops, lanes: BTreeMap::new() };
        places.place_columns(&places.trunks(graph, columns), columns.slots.len());
        places
    }

    /// The boxes of the nodes.
    pub(super) fn boxes(&self, columns: &Columns) -> Vec<NodeBox> {
        let place = |(node, &rank): (usize, &usize)| NodeBox {
            x: self.lefts[rank],
            y: self.tops[rank][&Slot::Node(node)],
            width: self.box_width,
            height: BOX_HEIGHT,
        };
        columns.ranks.iter().enumerate().map(place).collect()
    }

    /// Where edges of a kind leave and reach a slot.
    pub(super) fn y(&self, rank: usize, slot: Slot, on: On) -> i32 {
        let top = self.tops[rank][&slot];
        match (slot, on) {
            (Slot::Pass(..), _) => top + PASS_HEIGHT / 2,
            (Slot::Node(_), On::Success) => top + BOX_HEIGHT / 2,
            (Slot::Node(_), On::Failure) => top + BOX_HEIGHT / 2 + PORT_DISTANCE,
            (Slot::Node(_), On::Always) => top + BOX_HEIGHT / 2 - PORT_DISTANCE,
        }
    }

    pub(super) fn left(&self, rank: usize) -> i32 {
        self.lefts[rank]
    }

    pub(super) fn right(&self, rank: usize) -> i32 {
        self.lefts[rank] + self.box_width
    }

    /// The x of the vertical line; only a source with a child at another height has one.
    pub(super) fn lane(&self, trunk: Trunk) -> Option<i32> {
        self.lanes.get(&trunk).copied()
    }

    /// The upper and the lower end of each vertical line.
    fn trunks(&self, graph: &Graph, columns: &Columns) -> BTreeMap<Trunk, (i32, i32)> {
        let mut trunks = BTreeMap::new();
        for (to, node) in graph.nodes.iter().enumerate() {
            for edge in &node.after {
                let steps = columns.steps(edge.from, to, edge.on);
                for (at, pair) in steps.windows(2).enumerate() {
                    let rank = columns.ranks[edge.from] + at;
                    let (start, end) = (self.y(rank, pair[0], edge.on), self.y(rank + 1, pair[1], edge.on));
                    let ends = trunks.entry((rank, pair[0], edge.on)).or_insert((start, start));
                    *ends = (ends.0.min(end), ends.1.max(end));
                }
            }
        }
        trunks.retain(|_, (upper, lower)| upper != lower);
        trunks
    }

    /// Lines that are side by side get lanes of their own; each column stands behind the lanes before it.
    fn place_columns(&mut self, trunks: &BTreeMap<Trunk, (i32, i32)>, columns: usize) {
        let mut left = MARGIN;
        for rank in 0..columns {
            self.lefts.push(left);
            let first = left + self.box_width + LANE_MARGIN;
            let mut here: Vec<_> = trunks.iter().filter(|((column, ..), _)| *column == rank).collect();
            here.sort_by_key(|(trunk, ends)| (ends.0, **trunk));
            let mut ends_of_lanes: Vec<i32> = vec![];
            for (trunk, (upper, lower)) in here {
                let free = ends_of_lanes.iter().position(|end| end + LANE_WIDTH <= *upper);
                let lane = free.unwrap_or(ends_of_lanes.len());
                ends_of_lanes.resize(ends_of_lanes.len().max(lane + 1), *lower);
                ends_of_lanes[lane] = *lower;
                self.lanes.insert(*trunk, first + pixels(lane) * LANE_WIDTH);
            }
            self.width = left + self.box_width + MARGIN;
            left = first + pixels(ends_of_lanes.len()) * LANE_WIDTH + LANE_MARGIN;
        }
    }
}

fn slot_height(slot: &Slot) -> i32 {
    match slot {
        Slot::Node(_) => BOX_HEIGHT,
        Slot::Pass(..) => PASS_HEIGHT,
    }
}

fn column_height(column: &[Slot]) -> i32 {
    column.iter().map(|slot| slot_height(slot) + GAP).sum::<i32>() - GAP
}

/// A column stands in the middle of the picture.
fn tops(column: &[Slot], height: i32) -> BTreeMap<Slot, i32> {
    let mut top = (height - column_height(column)) / 2;
    let place = |slot: &Slot| {
        let own = top;
        top += slot_height(slot) + GAP;
        (*slot, own)
    };
    column.iter().map(place).collect()
}

/// A small number of lanes.
fn pixels(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX / LANE_WIDTH)
}
