//! Moving in from other schedulers, and back. The admin of xxl-job is on no registry: tables with its columns stand in for it, of each of the six shapes.

mod cutover;
mod definitions;
mod export;
mod import;
mod refusals;
mod shadow;
pub mod tables;
mod xxl_console;
