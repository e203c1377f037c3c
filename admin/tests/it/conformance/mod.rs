//! The contract of the store: the same tests on SQLite, PostgreSQL and MariaDB.

mod alarm;
mod app;
mod astray;
mod attention;
mod backfill;
mod calendar;
mod children;
mod delete;
mod disable;
mod edit;
mod edit_race;
mod hot;
mod job;
mod job_list;
mod mend;
mod misfire_list;
mod next_fires;
mod overview;
mod people;
mod plans;
pub mod pools;
mod prune;
mod reshard;
mod run_list;
mod run_params;
mod silent;
pub mod world;
