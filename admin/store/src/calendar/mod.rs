//! Named calendars, and the versions that jobs are planned with.

pub(crate) mod calendars;
pub(crate) mod job_calendars;
pub(crate) mod pinned;
