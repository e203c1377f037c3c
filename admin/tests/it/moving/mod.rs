//! Moving in from xxl-job, and back. Its admin is on no registry: tables with its columns stand in for it, of each of the six shapes.

mod cutover;
mod export;
mod import;
mod refusals;
mod shadow;
mod tables;
mod xxl_console;
