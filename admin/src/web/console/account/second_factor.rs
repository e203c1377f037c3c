//! The own second factor.

use carillon_accounts::second_factor::{self, CodeCheck, Confirmed, Proposed};
use carillon_scheduler::Millis;

use crate::web::console::account::login;
use crate::web::console::account::page::{Own, Sent, show};
use crate::web::forms::Fields;
use crate::web::locale::Language;
use crate::web::page::{PageContext, PageResult, done, uncached};
use crate::web::state::Shared;
use crate::web::text::format::duration;

pub(in crate::web::console) fn wait_text(language: Language, until_at: Millis, now: Millis) -> String {
    let seconds = (until_at - now + 999) / 1000;
    language.text("too-many-attempts").with("time", duration(language, seconds * 1000)).to_string()
}

/// What is wrong with a password that is not accepted.
pub(in crate::web::console) fn password_complaint(password: &str) -> &'static str {
    if password.is_empty() { "Your password is missing." } else { "This is not your password." }
}

/// `POST /account/second-factor`: the answer shows the secret, so it is no redirect.
pub async fn propose(state: Shared, own: Own, context: PageContext, fields: Fields) -> PageResult {
    let (mut sent, now, keys) = (Sent::default(), state.clock.now(), &state.config.secret_keys);
    match second_factor::propose(&state.store, keys, &own.viewer, fields.get("password"), own.client(), now).await? {
        Proposed::Shown(proposal) => sent.proposal = Some(proposal),
        Proposed::WrongPassword => sent.second_factor.add_error("password", password_complaint(fields.get("password"))),
        Proposed::Throttled { until_at } => {
            sent.second_factor.add_error("password", wait_text(context.language, until_at, now))
        }
        Proposed::Exists => sent.second_factor.add_error("password", "You have a second factor already."),
        Proposed::NoKey(error) => sent.second_factor.add_error("password", error.to_string()),
    }
    show(&state, context, &own.viewer, sent).await.map(uncached)
}

/// `POST /account/second-factor/confirm`: the answer shows the recovery codes, so it is no redirect.
pub async fn confirm(state: Shared, own: Own, context: PageContext, fields: Fields) -> PageResult {
    let (mut sent, now, keys) = (Sent::default(), state.clock.now(), &state.config.secret_keys);
    let mut is_on = false;
    match second_factor::confirm(&state.store, keys, &own.viewer, fields.get("code"), own.client(), now).await? {
        Confirmed::On(codes) => (sent.recovery_codes, is_on) = (codes, true),
        Confirmed::Wrong => {
            let text = "This is not the code that the app shows now. Is the clock of your phone right?";
            sent.second_factor.add_error("code", text);
            sent.is_confirming = true;
        }
        Confirmed::Throttled { until_at } => {
            sent.second_factor.add_error("code", wait_text(context.language, until_at, now));
            sent.is_confirming = true;
        }
        Confirmed::Expired => sent
            .second_factor
            .add_error("password", "The secret was shown too long ago. Set the second factor up again."),
    }
    let mut answer = uncached(show(&state, context, &own.viewer, sent).await?);
    if is_on {
        // The proof of before is worth nothing: it was given without a code.
        login::prove(&state, &mut answer, own.viewer.account_id).await?;
    }
    Ok(answer)
}

/// `POST /account/second-factor/remove`
pub async fn remove(state: Shared, own: Own, context: PageContext, fields: Fields) -> PageResult {
    let (mut sent, now, keys) = (Sent::default(), state.clock.now(), &state.config.secret_keys);
    match second_factor::remove(&state.store, keys, own.viewer.account_id, fields.get("code"), own.client(), now)
        .await?
    {
        CodeCheck::Right { .. } => {
            let mut answer = done("/account", context.t("factor-removed"));
            login::prove(&state, &mut answer, own.viewer.account_id).await?;
            return Ok(answer);
        }
        CodeCheck::Wrong => sent.second_factor.add_error("code", "This code is wrong or was used already."),
        CodeCheck::Throttled { until_at } => {
            sent.second_factor.add_error("code", wait_text(context.language, until_at, now))
        }
    }
    show(&state, context, &own.viewer, sent).await
}
