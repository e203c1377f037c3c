//! `POST /alerts/bulk`: acknowledge or silence the chosen alerts.

use carillon_alerts::manage::AlertAction;
use carillon_engine::manage::Error;

use crate::web::access::Caller;
use crate::web::console::bulk::ids_of;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageError, PageResult, done, local_address, refused};
use crate::web::state::Shared;

/// Words, the keys of their labels, and for how many seconds an alert is silenced; 0: it is acknowledged.
pub const ACTIONS: [(&str, &str, i64); 4] = [
    ("acknowledge", "alert-acknowledge", 0),
    ("silence_1h", "alert-silence-1h", 3_600),
    ("silence_8h", "alert-silence-8h", 8 * 3_600),
    ("silence_24h", "alert-silence-24h", 24 * 3_600),
];
/// Refused alerts that the message names.
const NAMED: usize = 3;

pub async fn bulk(state: Shared, by: Caller, context: PageContext, form: Form) -> PageResult {
    let back = local_address(form.value("back"));
    let chosen = ACTIONS.iter().find(|(word, ..)| form.is("action", word));
    let (_, _, seconds) = chosen.ok_or_else(|| PageError::Bad("there is no such action".to_owned()))?;
    let action = match seconds {
        0 => AlertAction::Acknowledge { note: form.value("note").to_owned() },
        seconds => AlertAction::Silence { seconds: *seconds },
    };
    let outcome = match state.alerts.handle_all(&ids_of(&form), &action, &by.0).await {
        Ok(outcome) => outcome,
        Err(error @ Error::Invalid(_)) => return Ok(refused(back, error)),
        Err(error) => return Err(error.into()),
    };
    let handled = context.t("alerts-handled").count("count", outcome.done);
    if outcome.refused.is_empty() {
        return Ok(done(back, handled));
    }
    let why = outcome.refused.iter().take(NAMED).map(|it| format!("#{}: {}", it.id, context.say(&it.reason)));
    let text = context.t("alerts-refused").with("done", handled).count("count", outcome.refused.len());
    let text = text.with("why", why.collect::<Vec<_>>().join("; "));
    Ok(refused(back, text))
}
