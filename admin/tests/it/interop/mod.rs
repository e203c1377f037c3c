//! Executors that are not ours, with the real program.

mod lost_results;
mod python;
