//! The own password.

use carillon_accounts::own_password::{self, PasswordChange, Passwords};
use carillon_accounts::session::SignedIn;
use carillon_store::people::sessions::SignInMethod;

use crate::web::console::account::login;
use crate::web::console::account::page::{Own, Sent, show};
use crate::web::console::account::second_factor::{password_complaint, wait_text};
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageResult, done};
use crate::web::state::Shared;

/// `POST /account/password`
pub async fn change(state: Shared, own: Own, context: PageContext, fields: Fields) -> PageResult {
    // Passwords do not go back into the page.
    let revoke_tokens = fields.get("revoke_tokens") == "yes";
    let mut form = Form::default().with("revoke_tokens", if revoke_tokens { "yes" } else { "no" });
    if fields.get("new") != fields.get("repeated") {
        form.add_error("new", "The two passwords differ.");
        return show(&state, context, &own.viewer, Sent { password: form, ..Sent::default() }).await;
    }
    let now = state.clock.now();
    let passwords = Passwords { current: fields.get("current"), new: fields.get("new"), revoke_tokens };
    match own_password::change(&state.store, &own.viewer, &passwords, own.client(), now).await? {
        PasswordChange::Done { credentials } => {
            let text = match revoke_tokens {
                true => context.t("account-password-and-tokens"),
                false => context.t("account-password-changed"),
            };
            let mut answer = done("/account", text);
            let who = SignedIn::new(own.viewer.account_id, credentials, SignInMethod::NewPassword);
            login::start(&state, &own.request, &mut answer, (who, &own.viewer.name), "").await?;
            return Ok(answer);
        }
        PasswordChange::WrongCurrent if passwords.current.is_empty() => {
            form.add_error("current", password_complaint(passwords.current));
        }
        PasswordChange::WrongCurrent => form.add_error("current", "This is not your current password."),
        PasswordChange::Refused(text) => form.add_error("new", text),
        PasswordChange::Throttled { until_at } => {
            form.add_error("current", wait_text(context.language, until_at, now));
        }
    }
    show(&state, context, &own.viewer, Sent { password: form, ..Sent::default() }).await
}
