//! Delayed triggers: runs that are asked for and not due yet. A trigger is a row of `delayed_trigger` until it is near; then the holder of
//! its shard releases it: the row goes and a run is recorded, in one transaction. A trigger is either there or its run is, never both.
//!
//! The run has an id of its own, and the id of the trigger as the number of its fire. Everything that walks over runs (reports, retention,
//! lists) relies on ids that grow with time, and a trigger may wait for years.
//!
//! Whatever changes or removes a trigger locks its job first, and a release locks it behind the lease: jobs, then triggers, then runs.

pub mod change;
pub mod discard;
pub mod insert;
pub mod release;
mod reshard;
pub mod view;
