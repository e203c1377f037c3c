//! The run of a request.

use crate::store::RunView;
use crate::web::console::error_page::PageError;
use crate::web::state::State;

pub async fn find_run(state: &State, id: i64) -> Result<RunView, PageError> {
    state.store.run(id).await?.ok_or(PageError::Missing("run"))
}
