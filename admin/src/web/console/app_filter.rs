//! The app in the filter of a list.

use carillon_engine::manage::Error;

use crate::web::page::{PageContext, PageError};
use crate::web::state::State;

/// Errors of filters: the key of the field's label, and the reason.
pub type WrongFilters = Vec<(&'static str, String)>;

/// Adds an error where there is no app of this name that the viewer sees.
pub async fn check_app(
    state: &State,
    context: &PageContext,
    app: Option<&str>,
    wrong: &mut WrongFilters,
) -> Result<(), PageError> {
    let Some(app) = app else { return Ok(()) };
    match state.engine.apps().named(app, &context.actor).await {
        Ok(_) => Ok(()),
        Err(Error::Invalid(_)) => {
            wrong.push(("app", format!("there is no app “{app:.64}”")));
            Ok(())
        }
        Err(error) => Err(error.into()),
    }
}
