//! What is put right, divided anew or deleted.

mod astray;
mod candidate_sets;
mod mend;
mod prune;
mod reports;
mod reshard;
