//! Shards, their leases with their epochs, and the nodes that hold them.

pub mod leases;
pub mod nodes;
pub mod reshard;
