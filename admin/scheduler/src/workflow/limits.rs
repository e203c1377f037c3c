//! The limits of a workflow.

/// Maximum number of nodes of a workflow. Below 1,024, so that a run and a node make one number.
pub const NODES: usize = 500;
/// Maximum number of edges of a workflow.
pub const EDGES: usize = 2_000;
/// Maximum size of a definition as JSON, in bytes: 256 KiB.
pub const DEFINITION_BYTES: usize = 262_144;
/// Maximum number of characters of a node's name.
pub const NODE_NAME_CHARS: usize = 63;
/// Maximum size of the parameters and of the result of a node and of a workflow, in bytes: 64 KiB.
pub const TEXT_BYTES: usize = 65_536;
/// Maximum number of placeholders in one template.
pub const PLACEHOLDERS: usize = 100;
/// Maximum number of tests of one edge.
pub const TESTS: usize = 20;
/// Maximum size of a path into a result, in bytes.
pub const PATH_BYTES: usize = 256;
/// Maximum number of nodes of a workflow that is drawn.
pub const DRAWN_NODES: usize = 200;
