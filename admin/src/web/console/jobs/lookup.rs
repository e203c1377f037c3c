//! The job of a request.

use crate::store::{Error, Job};
use crate::web::console::error_page::PageError;
use crate::web::state::State;

pub async fn find_job(state: &State, id: i64) -> Result<Job, PageError> {
    state.store.job(id).await?.ok_or(PageError::Missing("job"))
}

/// A job that was deleted meanwhile is missing, not an internal error.
pub fn gone(error: Error) -> PageError {
    match error {
        Error::Missing(_) => PageError::Missing("job"),
        other => other.into(),
    }
}
