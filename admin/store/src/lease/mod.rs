//! Shards, their leases with their epochs, and the nodes that hold them; and the leases of loops.

pub mod leases;
pub mod loops;
pub mod nodes;
pub mod reshard;
