//! Workflows: the tables of edges and joins, complaints about other products as cases, and properties over generated graphs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod case;
mod complaints;
mod definitions;
mod ends;
mod faults;
mod for_each;
mod generate;
mod marks;
mod parameters;
mod pictures;
mod properties;
mod tables;
