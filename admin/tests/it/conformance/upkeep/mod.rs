//! Repair, division into another number of shards, and deletion.

mod candidate_sets;
mod late_starts;
mod misplaced_rows;
mod prune;
mod repair;
mod reports;
mod reshard;
