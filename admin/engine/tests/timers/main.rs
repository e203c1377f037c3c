//! Timers by key and the wheel of tokio's `DelayQueue` below them, in virtual time: what is described of wheels in general is
//! shown of this one. `benches/timers.rs` measures what a test can only count.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cost;
mod keys;
mod levels;
mod renewals;
mod virtual_time;
