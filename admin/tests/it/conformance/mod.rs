//! The contract of the store: the same tests on SQLite, PostgreSQL and MariaDB.

mod alarm;
mod app;
mod astray;
mod attention;
mod backfill;
mod calendar;
pub mod fixture;
mod hot;
mod jobs;
mod lists;
mod mend;
mod people;
mod plans;
mod poll;
pub mod pools;
mod prune;
mod reshard;
mod run_params;
mod silent;
mod size;
