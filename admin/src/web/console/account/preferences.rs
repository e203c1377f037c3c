//! Colours and time zone of a browser.

use chrono_tz::Tz;

use crate::web::forms::Fields;
use crate::web::page::{PageError, PageResult, THEME, ZONE, local_address, preference, redirect, redirect_with_flash};

/// `POST /preferences`: theme and zone, also before signing in.
pub async fn preferences(fields: Fields) -> PageResult {
    let next = local_address(fields.get("next"));
    let zone = fields.get("zone").trim();
    let known = zone.parse::<Tz>().ok();
    let mut answer = match known.is_none() && !zone.is_empty() {
        true => {
            let text = format!("{zone:.64} is not a time zone; write one such as Europe/Berlin.");
            redirect_with_flash(next, "failed", &text)
        }
        false => redirect(next),
    };
    if let theme @ ("system" | "light" | "dark") = fields.get("theme") {
        let cookie = preference(THEME, theme.to_owned());
        answer.add_cookie(&cookie).map_err(PageError::from_cookie)?;
    }
    if let Some(zone) = known {
        let cookie = preference(ZONE, zone.name().to_owned());
        answer.add_cookie(&cookie).map_err(PageError::from_cookie)?;
    }
    Ok(answer)
}
