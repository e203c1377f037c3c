//! Who works which shard, and what a clock or a lock may do to it.

mod clocks;
mod degraded;
mod hints;
mod intervals;
mod leaderless;
mod lease_turnover;
pub mod leases;
mod lock_traffic;
mod loops;
mod own_clock;
mod shares;
mod stalled_shards;
