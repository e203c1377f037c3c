//! What the nemesis did, and what it may cost.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// Faults whose lateness has one bound (`Class::bound`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A node ends in order while a peer lives.
    GracefulStop,
    /// A holder is killed, paused, or ends at a failpoint.
    Holder,
    /// Redis is lost, flushed or split.
    Redis,
    /// The database is away, slow, or its answers are.
    Database,
    /// An executor is dead, paused, or its answers are lost.
    Executor,
    /// A clock, a client: nothing may be late by it.
    Harmless,
}

impl Class {
    pub const ALL: [Self; 6] =
        [Self::GracefulStop, Self::Holder, Self::Redis, Self::Database, Self::Executor, Self::Harmless];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::GracefulStop => "graceful_stop",
            Self::Holder => "holder",
            Self::Redis => "redis",
            Self::Database => "database",
            Self::Executor => "executor",
            Self::Harmless => "harmless",
        }
    }

    /// How long after the fault's end an instant may still be late because of it, from the guarantees of the engine: ms.
    pub fn recovers_within(self, ttl_ms: i64) -> i64 {
        match self {
            Self::GracefulStop | Self::Redis => 3_000,
            Self::Holder | Self::Database => ttl_ms + 3_000,
            // Up to three hops to a dead one of the four; one second each to connect.
            Self::Executor => 4_000,
            Self::Harmless => 1_000,
        }
    }

    /// How late an instant may be received because of it, ms. `lasts_ms`: of the fault.
    pub fn bound(self, lasts_ms: i64, ttl_ms: i64) -> i64 {
        let waits_for_its_end = match self {
            // A paused executor has the request in its socket and writes down that it received it when it goes on.
            Self::Database | Self::Executor => lasts_ms,
            // Peers take over meanwhile.
            _ => 0,
        };
        waits_for_its_end + self.recovers_within(ttl_ms)
    }
}

/// One fault.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fault {
    /// Name of its kind, such as `admin_kill`.
    #[serde(alias = "card")]
    pub name: String,
    pub class: Class,
    /// `a1`, `database`, `redis`, `e3` …
    pub target: String,
    pub from: Millis,
    /// When it was repaired: the process runs again, the wire is whole.
    pub to: Millis,
    /// Details for the report.
    #[serde(default)]
    pub note: String,
    /// The fault itself failed: a defect of the suite, or a process that does not come back.
    #[serde(default)]
    pub failed: bool,
    /// Whether the target held a shard.
    #[serde(default)]
    pub held: bool,
}
