//! Runs of workflows in the database: each begins once, and each end is followed once, also beside changes of its job.

mod begin;
mod changes;
mod faults;
mod given;
mod go_on;
pub mod graphs;
mod kept;
mod parts;
