//! `/forecast`: what all enabled jobs together will do.

use actix_web::web::Json;

use super::answer::{Answer, Error};
use super::extract::{Caller, Query};
use super::view::ForecastView;
use crate::web::limits::TOO_MANY_FORECASTS;
use crate::web::state::Shared;

pub const MAX_HOURS: u32 = 168;
const HOUR: i64 = 3_600_000;

pub async fn forecast(state: Shared, caller: Caller, query: Query) -> Answer<ForecastView> {
    let hours = query.number("hours", 24, MAX_HOURS)?;
    let from = state.clock.now();
    let (to, visible) = (from + i64::from(hours) * HOUR, caller.visible());
    let asked = state.engine.forecaster.forecast(from, to, &visible).await?;
    let forecast = asked.ok_or_else(|| Error::unavailable(TOO_MANY_FORECASTS))?;
    Ok(Json(ForecastView::from(forecast)))
}
