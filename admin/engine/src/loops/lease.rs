//! How long leases of loops last.

use std::time::Duration;

/// How long an executor has a loop after a renewal.
pub(crate) const LOOP_LEASE: Duration = Duration::from_secs(5);
