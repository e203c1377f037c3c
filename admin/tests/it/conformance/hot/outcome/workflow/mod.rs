//! Runs of workflows in the database: begun once, gone on with once, whoever does it and whatever is changed at the same moment.

mod begin;
mod changes;
mod go_on;
mod graphs;
mod kept;
