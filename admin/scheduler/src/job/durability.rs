//! How much of a job's fires is recorded.

use crate::words::{first_is_default, words};

words! {
    /// How much of a job's fires is recorded.
    pub enum Durability: "durability" {
        /// Each fire is a run with a record, and none is lost.
        Durable = 0 "durable",
        /// One executor fires the job by itself, under a lease. Fires are counted and not recorded singly; some are lost or late when the
        /// executor ends.
        BestEffort = 1 "best_effort",
    }
}

first_is_default!(Durability);
