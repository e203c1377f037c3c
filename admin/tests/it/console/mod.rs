//! The console over HTTP, as a visitor without script meets it.

mod actions;
mod all_faults;
mod audit;
mod bulk;
mod chinese;
pub mod client;
mod executors;
mod filters;
mod forms;
mod guard;
mod hostile;
mod job_form;
mod operations;
mod pages;
mod pauses;
mod people;
mod proxy;
mod reports;
mod workflows;

/// The body of a test in a runtime of its own.
fn run(test: impl Future<Output = ()>) {
    crate::services::runtime().block_on(test);
}
