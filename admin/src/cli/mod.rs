//! The command line: one file a subcommand, and `settings.rs`, which is the manual.
//!
//! Invariant: wrong input ends with exit code 2 and a message that says what would be right; any other failure ends with 1. For
//! `apply` and `drift`, 2 means changes and all failures end with 1. Only this module names anyhow.

mod arguments;
mod command_line;
mod database;
mod demo;
mod diagnosis;
mod environment;
mod files;
mod limit_settings;
mod logging;
mod manual;
mod moving;
mod next;
mod secret_files;
mod serve;
mod settings;
mod shards;
mod user;
mod values;
mod worker;

pub use command_line::main;
