//! `/forecast`: what all enabled jobs together will do.

use std::collections::BTreeMap;

use actix_web::web::Json;
use carillon_inspect::forecast::Forecast;
use serde::Serialize;
use utoipa::ToSchema;

use super::answer::{Answer, Error};
use super::extract::{Caller, Query};
use super::view::Time;
use crate::web::limits::TOO_MANY_FORECASTS;
use crate::web::state::Shared;

/// What all enabled jobs together will do
#[derive(Serialize, ToSchema)]
#[schema(as = Forecast)]
pub struct ForecastView {
    /// Earlier instants are not counted
    from: Time,
    /// The end that was asked for
    to: Time,
    /// Everything before it is counted; earlier than `to` if there are more than a million fires
    complete_to: Time,
    /// Enabled jobs that fire in the span
    jobs: usize,
    /// There are more jobs than the 200,000 that were looked at
    #[schema(default = false)]
    more_jobs: bool,
    fires: u64,
    /// Fires of each app, by its name
    apps: BTreeMap<String, u64>,
    /// Earliest first; minutes without fires are left out
    minutes: Vec<MinuteView>,
    /// The 20 busiest seconds, the busiest first
    busiest: Vec<SecondView>,
}

/// A minute that has fires
#[derive(Serialize, ToSchema)]
#[schema(as = ForecastMinute)]
struct MinuteView {
    /// Its beginning
    at: Time,
    #[schema(minimum = 1)]
    fires: u32,
    /// Fires of each app, by its name
    apps: BTreeMap<String, u32>,
}

/// A second that has fires
#[derive(Serialize, ToSchema)]
#[schema(as = ForecastSecond)]
struct SecondView {
    /// Its beginning
    at: Time,
    #[schema(minimum = 1)]
    fires: u32,
}

impl From<Forecast> for ForecastView {
    fn from(forecast: Forecast) -> Self {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (app, fires) in forecast.minutes.iter().flat_map(|minute| &minute.apps) {
            *sums.entry(forecast.apps[*app].clone()).or_default() += u64::from(*fires);
        }
        let minutes = forecast.minutes.into_iter().map(|minute| MinuteView {
            at: Time(minute.at),
            fires: minute.fires,
            apps: minute.apps.into_iter().map(|(app, fires)| (forecast.apps[app].clone(), fires)).collect(),
        });
        let seconds = forecast.busiest.into_iter();
        Self {
            from: Time(forecast.from),
            to: Time(forecast.to),
            complete_to: Time(forecast.complete_to),
            jobs: forecast.jobs,
            more_jobs: forecast.more_jobs,
            fires: forecast.fires,
            minutes: minutes.collect(),
            busiest: seconds.map(|(at, fires)| SecondView { at: Time(at), fires }).collect(),
            apps: sums,
        }
    }
}

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
