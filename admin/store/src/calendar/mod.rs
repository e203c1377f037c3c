//! Named calendars, the versions that jobs are planned with, and the time zone data that they are planned with.

pub(crate) mod calendars;
pub(crate) mod job_calendars;
pub(crate) mod pinned;
pub(crate) mod zone_data;
