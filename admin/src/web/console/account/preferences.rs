//! Colours, time zone and language of a person, and the time zones to choose from.

use actix_web::HttpResponse;
use actix_web::http::header::CACHE_CONTROL;
use carillon_scheduler::{Zone, zone_data};

use crate::web::forms::Fields;
use crate::web::locale::{LANGUAGE, Language};
use crate::web::page::{PageContext, PageError, PageResult, THEME, ZONE, local_address, preference, redirect, refused};
use crate::web::state::Shared;

/// `POST /preferences`: theme, zone and language, also before signing in. The browser keeps them; the account keeps the language too.
pub async fn preferences(state: Shared, context: PageContext, fields: Fields) -> PageResult {
    let next = local_address(fields.get("next"));
    let zone = fields.get("zone").trim();
    let known = zone.parse::<Zone>().ok();
    let mut answer = match known.is_none() && !zone.is_empty() {
        true => {
            let text = context.t("zone-unknown").with("zone", format_args!("{zone:.64}")).to_string();
            refused(next, &text)
        }
        false => redirect(next),
    };
    let mut chosen = vec![];
    if let theme @ ("system" | "light" | "dark") = fields.get("theme") {
        chosen.push(preference(THEME, theme.to_owned()));
    }
    chosen.extend(known.map(|zone| preference(ZONE, zone.name().to_owned())));
    if let Some(language) = Language::from_code(fields.get("language")) {
        chosen.push(preference(LANGUAGE, language.code().to_owned()));
        if let Some(viewer) = &context.viewer {
            state.store.people().set_language(viewer.account_id, language.code()).await?;
        }
    }
    for cookie in chosen {
        answer.add_cookie(&cookie).map_err(PageError::from_cookie)?;
    }
    Ok(answer)
}

/// `GET /zones`: the current names, as JSON; old names are accepted and not offered.
pub async fn zones() -> HttpResponse {
    HttpResponse::Ok().insert_header((CACHE_CONTROL, "private, max-age=3600")).json(zone_data().offered())
}
