//! What Carillon's headers say about a run.

/// What Carillon's headers say about a run; an admin of xxl-job sends none of them.
#[derive(Default)]
pub(crate) struct RunMeta {
    pub(crate) fire_key: Option<String>,
    /// UTC epoch milliseconds.
    pub(crate) scheduled_at: Option<i64>,
    /// From 1.
    pub(crate) attempt: u32,
    /// UTC epoch milliseconds; the run is refused when it arrives later.
    pub(crate) not_after: Option<i64>,
}
