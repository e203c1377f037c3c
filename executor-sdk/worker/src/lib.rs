//! Runs the scripts of script jobs, each in a process of its own.
//!
//! [`ScriptRunner`] is the handler: it makes a folder for the run, starts this program again as the [shim](exec_limited), which limits
//! itself and becomes the interpreter, copies the script's output into the run's log, and ends the processes that the script has
//! left behind.

mod interpreter;
mod output;
mod process_tree;
mod runner;
mod shim;
mod slots;

pub use interpreter::Interpreters;
pub use runner::{RunnerSettings, ScriptRunner};
pub use shim::{Limits, exec_limited};
pub use slots::{Identity, WrongIdentity};
