//! Forms whose effect outlives the session: they ask for the password again.

use carillon_accounts::own_password::{self, OwnerCheck};

use crate::web::console::account::page::Own;
use crate::web::console::account::second_factor::{password_complaint, wait_text};
use crate::web::forms::{Form, OWN_PASSWORD};
use crate::web::page::{PageContext, PageError};
use crate::web::state::State;

/// The number of the credentials by which the owner of the account was found at the browser. None: the form says what is missing.
/// `late`: a field and its error, for a person without a password who signed in too long ago.
pub async fn check(
    state: &State,
    own: &Own,
    form: &mut Form,
    password: &str,
    context: &PageContext,
    late: (&str, &str),
) -> Result<Option<i64>, PageError> {
    let now = state.clock.now();
    match own_password::check_owner(&state.store, &own.viewer, password, own.client(), now).await? {
        OwnerCheck::Right { credentials } => return Ok(Some(credentials)),
        OwnerCheck::WrongPassword => form.add_error(OWN_PASSWORD, password_complaint(password)),
        OwnerCheck::Throttled { until_at } => form.add_error(OWN_PASSWORD, wait_text(context.language, until_at, now)),
        OwnerCheck::SignInAgain => form.add_error(late.0, late.1),
    }
    Ok(None)
}
