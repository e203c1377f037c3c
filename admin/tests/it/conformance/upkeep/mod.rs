//! What is put right, divided anew or deleted.

mod candidate_sets;
mod misplaced_rows;
mod prune;
mod repair;
mod reports;
mod reshard;
