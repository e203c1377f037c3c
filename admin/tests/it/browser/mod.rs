//! The console in a real browser, on a real node with a real executor.

mod live;
mod show;
