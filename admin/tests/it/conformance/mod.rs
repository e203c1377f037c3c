//! The contract of the store: the same tests on SQLite, PostgreSQL and MariaDB.

mod alarm;
mod apps;
mod backfill;
mod calendar;
pub mod fixture;
pub mod hot;
mod jobs;
mod lists;
mod overdue_runs;
mod people;
mod plans;
mod poll;
pub mod pools;
mod run_params;
mod sign_in;
mod silent;
mod size;
mod token_uses;
mod upkeep;
