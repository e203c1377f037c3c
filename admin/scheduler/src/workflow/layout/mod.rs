//! The picture of a workflow: where its boxes and edges lie, from left to right, in whole pixels.
//!
//! A node stands in the column of its longest path. An edge that passes columns has a place of its own in each, so it meets no box; its
//! vertical pieces lie between the columns. The order within the columns comes from two barycentre sweeps.

mod columns;
mod places;
mod routes;
mod shapes;

use super::graph::Graph;
use super::limits::DRAWN_NODES;
use columns::Columns;
use places::Places;
pub use shapes::{EdgePath, NodeBox};

/// The picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Its width.
    pub width: i32,
    /// Its height.
    pub height: i32,
    /// The boxes of the nodes, by their positions in the graph.
    pub boxes: Vec<NodeBox>,
    /// The edges. Those between the same two nodes on the same end are one.
    pub edges: Vec<EdgePath>,
}

/// Draws a graph. None: it has more than 200 nodes, and a picture would show less than a table.
pub fn layout(graph: &Graph) -> Option<Layout> {
    if graph.nodes.len() > DRAWN_NODES {
        return None;
    }
    let columns = Columns::new(graph);
    let places = Places::new(graph, &columns);
    let edges = routes::edges(graph, &columns, &places);
    Some(Layout { width: places.width, height: places.height, boxes: places.boxes(&columns), edges })
}
