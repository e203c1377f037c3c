//! What a picture is made of.

use super::super::definition::On;

/// The box of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeBox {
    /// Its left side.
    pub x: i32,
    /// Its upper side.
    pub y: i32,
    /// Its width; all boxes of a picture have the same.
    pub width: i32,
    /// Its height.
    pub height: i32,
}

/// The line of an edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EdgePath {
    /// The parent.
    pub from: usize,
    /// The child.
    pub to: usize,
    /// The end of the parent at which it is taken.
    pub on: On,
    /// From the right side of the parent's box to the left side of the child's; each piece is horizontal or vertical.
    pub points: Vec<(i32, i32)>,
}
