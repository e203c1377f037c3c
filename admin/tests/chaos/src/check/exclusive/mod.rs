//! What only some may do at one moment: runs with a slot of a limit, the executor that has a loop.

pub mod limits;
pub mod loops;
