//! The console over HTTP, as a visitor without script meets it.

mod accounts;
mod actions;
mod degraded;
mod executors;
mod forms;
mod guard;
mod pages;
mod rules;
mod setup;
mod visitor;

/// The body of a test in a runtime of its own.
fn run(test: impl Future<Output = ()>) {
    crate::services::runtime().block_on(test);
}
