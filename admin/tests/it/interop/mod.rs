//! Executors and clients that are not ours, with the real program.

mod generated_client;
mod lost_results;
mod python;
