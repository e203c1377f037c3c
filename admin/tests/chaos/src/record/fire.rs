//! Calls of loops, as one observer saw them.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// A call. Its executor tells of it before it does anything else; the observer adds the two times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fire {
    /// On the observer's monotonic clock, µs. Calls of all executors come in their order.
    pub mono_us: i64,
    pub at: Millis,
    pub executor: String,
    /// Identifies the start of the executor's process.
    pub boot: String,
    pub job: i64,
    /// Of the grant under which it was called.
    pub epoch: i64,
    /// What it was called for, by the time of the admins.
    pub instant: Millis,
}
