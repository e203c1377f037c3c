//! What the journal of an earlier process held.

use carillon_protocol::CallbackItem;

/// The runs of an earlier process, read from its journal.
#[derive(Default)]
pub(crate) struct RecoveredRuns {
    /// Results that no admin has; among them "interrupted" for the runs that had no result.
    pub(crate) unreported: Vec<CallbackItem>,
    /// Results that an admin has.
    pub(crate) reported: Vec<CallbackItem>,
    /// Run id, fire key and attempt of the runs that had a key.
    pub(crate) attempts: Vec<(i64, String, u32)>,
}
