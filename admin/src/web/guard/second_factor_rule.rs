//! The setting `--admin-second-factor`: an administrator without a second factor gets no further than the page on which it is set up.

use actix_web::http::Method;
use carillon_accounts::second_factor;
use carillon_accounts::session::Viewer;

use crate::web::state::State;

/// Whether the setting asks a second factor of this person.
pub fn is_required(state: &State, viewer: &Viewer) -> bool {
    second_factor::is_asked_of(state.config.admin_second_factor, &viewer.grants, viewer.issuer.as_deref())
}

/// Whether a person who still has to set it up may send this request.
pub fn is_allowed_before(method: &Method, path: &str) -> bool {
    let is_set_up = *method == Method::POST && path.starts_with("/account/second-factor");
    is_set_up || matches!(path, "/account" | "/account/password" | "/logout" | "/login" | "/preferences")
}
