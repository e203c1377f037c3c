//! The own second factor.

use carillon_accounts::second_factor::{self, CodeCheck, Proposed};
use carillon_scheduler::Millis;

use crate::web::access::Caller;
use crate::web::console::account::page::{Sent, show, uncached};
use crate::web::forms::{Fields, Form};
use crate::web::guard::session_cookie::Viewer;
use crate::web::locale::Language;
use crate::web::page::{PageContext, PageResult, redirect_with_flash};
use crate::web::state::Shared;
use crate::web::text::format::duration;

fn wait_text(language: Language, until_at: Millis, now: Millis) -> String {
    let seconds = (until_at - now + 999) / 1000;
    language.text("too-many-attempts").with("time", duration(language, seconds * 1000)).to_string()
}

/// `POST /account/second-factor`: the answer shows the secret, so it is no redirect.
pub async fn propose(state: Shared, by: Caller, viewer: Viewer, context: PageContext, fields: Fields) -> PageResult {
    let (mut sent, now, keys) = (Sent::default(), state.clock.now(), &state.config.secret_keys);
    let password = fields.get("password");
    match second_factor::propose(&state.store, keys, viewer.account_id, password, now, &by.0).await? {
        Proposed::Shown(proposal) => sent.proposal = Some(proposal),
        Proposed::WrongPassword => sent.second_factor.add_error("password", "This is not your password."),
        Proposed::Throttled { until_at } => {
            sent.second_factor.add_error("password", wait_text(context.language, until_at, now))
        }
        Proposed::Exists => sent.second_factor.add_error("password", "You have a second factor already."),
        Proposed::NoKey(error) => sent.second_factor.add_error("password", error.to_string()),
    }
    show(&state, context, &viewer, sent).await.map(uncached)
}

/// `POST /account/second-factor/confirm`: the answer shows the recovery codes, so it is no redirect.
pub async fn confirm(state: Shared, by: Caller, viewer: Viewer, context: PageContext, fields: Fields) -> PageResult {
    let (mut sent, now, keys) = (Sent::default(), state.clock.now(), &state.config.secret_keys);
    match second_factor::confirm(&state.store, keys, viewer.account_id, fields.get("code"), now, &by.0).await? {
        Some(codes) => sent.recovery_codes = codes,
        None => {
            let text = "This is not the code that the app shows now. Is the clock of your phone right?";
            sent.second_factor = Form::default();
            sent.second_factor.add_error("code", text);
            sent.is_confirming = true;
        }
    }
    show(&state, context, &viewer, sent).await.map(uncached)
}

/// `POST /account/second-factor/remove`
pub async fn remove(state: Shared, by: Caller, viewer: Viewer, context: PageContext, fields: Fields) -> PageResult {
    let (mut sent, now, keys) = (Sent::default(), state.clock.now(), &state.config.secret_keys);
    match second_factor::remove(&state.store, keys, viewer.account_id, fields.get("code"), now, &by.0).await? {
        CodeCheck::Right { .. } => {
            return Ok(redirect_with_flash("/account", "ok", &context.t("factor-removed").to_string()));
        }
        CodeCheck::Wrong => sent.second_factor.add_error("code", "This code is wrong or was used already."),
        CodeCheck::Throttled { until_at } => {
            sent.second_factor.add_error("code", wait_text(context.language, until_at, now))
        }
    }
    show(&state, context, &viewer, sent).await
}
