//! Runs of workflows in the database: begun once, gone on with once, whatever is changed at the same moment.

mod begin;
mod changes;
mod go_on;
mod graphs;
mod kept;
