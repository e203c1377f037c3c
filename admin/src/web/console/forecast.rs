//! The fires of all enabled jobs ahead, as a chart drawn by the server.

use std::fmt::Write as _;

use actix_web::web::Query;
use askama::Template;
use carillon_inspect::forecast::Forecast;
use carillon_scheduler::Millis;
use serde::Deserialize;

use crate::web::limits::TOO_MANY_FORECASTS;
use crate::web::page::{PageContext, PageError, PageResult, show};
use crate::web::state::Shared;

/// Spans that can be chosen, in h.
const SPANS: [u32; 4] = [1, 24, 72, 168];
/// Size of the drawing, in its own units. There is a column for each minute of a day, of which
/// two are not whole, or for several of a longer span.
const HEIGHT: u64 = 100;
const COLUMNS: i64 = 1441;
const MINUTE: Millis = 60_000;

#[derive(Deserialize)]
#[serde(default)]
pub struct ForecastQuery {
    hours: u32,
}

impl Default for ForecastQuery {
    fn default() -> Self {
        Self { hours: 24 }
    }
}

/// Fires by column, as one line around them all.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Chart {
    path: String,
    width: i64,
    /// Fires of the highest column, and how many minutes a column has.
    highest: u64,
    minutes: i64,
}

/// An app's share.
struct Share {
    app: String,
    fires: u64,
}

#[derive(Template)]
#[template(path = "forecast.html")]
struct Page {
    context: PageContext,
    hours: u32,
    spans: [u32; 4],
    forecast: Forecast,
    chart: Option<Chart>,
    shares: Vec<Share>,
}

/// `GET /forecast`
pub async fn page(state: Shared, context: PageContext, query: Query<ForecastQuery>) -> PageResult {
    let known = SPANS.into_iter().find(|hours| *hours == query.hours);
    let hours = known.unwrap_or(ForecastQuery::default().hours);
    let to = context.now + i64::from(hours) * 60 * MINUTE;
    let asked = state.engine.forecaster.forecast(context.now, to, &context.visible()).await?;
    let forecast = asked.ok_or(PageError::Busy(TOO_MANY_FORECASTS))?;
    let page = Page { hours, spans: SPANS, chart: draw(&forecast), shares: shares(&forecast), forecast, context };
    Ok(show(&page))
}

fn draw(forecast: &Forecast) -> Option<Chart> {
    let first = forecast.from.div_euclid(MINUTE);
    let all = (forecast.to - 1).div_euclid(MINUTE) - first + 1;
    let minutes = (all + COLUMNS - 1) / COLUMNS;
    let mut columns = vec![0u64; usize::try_from((all + minutes - 1) / minutes).ok()?];
    for minute in &forecast.minutes {
        let place = (minute.at.div_euclid(MINUTE) - first) / minutes;
        *columns.get_mut(usize::try_from(place).ok()?)? += u64::from(minute.fires);
    }
    let highest = columns.iter().copied().max().filter(|most| *most > 0)?;
    let mut path = format!("M0 {HEIGHT}");
    let mut last = None;
    for (x, fires) in columns.iter().enumerate() {
        // A single fire among thousands must be visible.
        let height = (fires * HEIGHT / highest).max(2 * fires.min(&1));
        if last != Some(height) {
            // Writing to a text cannot fail.
            let _ = write!(path, "H{x}V{}", HEIGHT - height);
        }
        last = Some(height);
    }
    let width = columns.len() as i64;
    let _ = write!(path, "H{width}V{HEIGHT}Z");
    Some(Chart { path, width, highest, minutes })
}

fn shares(forecast: &Forecast) -> Vec<Share> {
    let mut shares: Vec<Share> = forecast.apps.iter().map(|app| Share { app: app.clone(), fires: 0 }).collect();
    for (app, fires) in forecast.minutes.iter().flat_map(|minute| &minute.apps) {
        shares[*app].fires += u64::from(*fires);
    }
    shares.sort_by(|one, other| other.fires.cmp(&one.fires).then_with(|| one.app.cmp(&other.app)));
    shares
}

#[cfg(test)]
mod tests {
    use carillon_inspect::forecast::Minute;

    use super::*;

    fn forecast(hours: i64, fires: &[(i64, u32)]) -> Forecast {
        let minute =
            |(minute, fires): &(i64, u32)| Minute { at: minute * MINUTE, fires: *fires, apps: vec![(0, *fires)] };
        Forecast {
            from: 30_000,
            to: 30_000 + hours * 60 * MINUTE,
            complete_to: 0,
            jobs: 1,
            more_jobs: false,
            fires: 0,
            apps: vec!["billing".into()],
            minutes: fires.iter().map(minute).collect(),
            busiest: vec![],
        }
    }

    #[test]
    fn a_column_is_a_minute_or_several() {
        let hour = draw(&forecast(1, &[(0, 50), (1, 1), (60, 100)])).unwrap();
        assert_eq!((hour.width, hour.highest, hour.minutes), (61, 100, 1));
        assert_eq!(hour.path, "M0 100H0V50H1V98H2V100H60V0H61V100Z");
        let week = draw(&forecast(168, &[(0, 3), (7, 4), (8, 1)])).unwrap();
        assert_eq!((week.highest, week.minutes), (5, 7));
        let day = draw(&forecast(24, &[(0, 3)])).unwrap();
        assert_eq!((day.width, day.minutes), (1441, 1));
        assert_eq!(draw(&forecast(24, &[])), None);
    }
}
