//! `/forecast`: what all enabled jobs together will do.

use actix_web::HttpResponse;
use actix_web::web::Data;

use super::error::Error;
use super::extract::Query;
use super::view::ForecastView;
use crate::web::state::State;

pub const MAX_HOURS: u32 = 168;
const HOUR: i64 = 3_600_000;

pub async fn forecast(state: Data<State>, mut query: Query) -> Result<HttpResponse, Error> {
    let hours = query.number("hours", 24, MAX_HOURS)?;
    query.finish()?;
    let from = state.clock.now();
    let forecast = state.engine.forecaster.forecast(from, from + i64::from(hours) * HOUR).await?;
    Ok(HttpResponse::Ok().json(ForecastView::from(forecast)))
}
