//! What will happen: previews and forecasts.

use std::collections::BTreeMap;

use carillon_scheduler::Millis;
use chrono::{NaiveDate, SecondsFormat};
use serde::Serialize;

use super::super::time;
use crate::pipeline::Forecast;
use crate::web::preview::{self, Preview};

#[derive(Serialize)]
pub struct PreviewJson {
    items: Vec<String>,
    timezone: &'static str,
    local: Vec<String>,
    ends: bool,
    spread: Option<SpreadJson>,
    excluded: Vec<ExcludedJson>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct SpreadJson {
    seconds: u32,
    offset_seconds: u32,
    why: String,
}

#[derive(Serialize)]
struct ExcludedJson {
    day: NaiveDate,
    moved_to: Option<NaiveDate>,
    calendars: Vec<String>,
}

impl From<Preview> for PreviewJson {
    fn from(preview: Preview) -> Self {
        let zone = preview.zone;
        let local = |at: &Millis| preview::local(*at, zone).to_rfc3339_opts(SecondsFormat::Secs, false);
        Self {
            local: preview.fires.iter().map(local).collect(),
            items: preview.fires.into_iter().map(time::write).collect(),
            timezone: zone.name(),
            ends: preview.ends,
            spread: preview.spread.map(|spread| SpreadJson {
                seconds: spread.seconds,
                offset_seconds: spread.offset_seconds,
                why: spread.why,
            }),
            excluded: preview
                .excluded
                .into_iter()
                .map(|day| ExcludedJson { day: day.day, moved_to: day.moved_to, calendars: day.calendars })
                .collect(),
            warnings: preview.notes,
        }
    }
}

#[derive(Serialize)]
pub struct ForecastJson {
    #[serde(serialize_with = "time::required")]
    from: Millis,
    #[serde(serialize_with = "time::required")]
    to: Millis,
    #[serde(serialize_with = "time::required")]
    complete_to: Millis,
    jobs: usize,
    more_jobs: bool,
    fires: u64,
    apps: BTreeMap<String, u64>,
    minutes: Vec<MinuteJson>,
    busiest: Vec<SecondJson>,
}

#[derive(Serialize)]
struct MinuteJson {
    #[serde(serialize_with = "time::required")]
    at: Millis,
    fires: u32,
    apps: BTreeMap<String, u32>,
}

#[derive(Serialize)]
struct SecondJson {
    #[serde(serialize_with = "time::required")]
    at: Millis,
    fires: u32,
}

impl From<Forecast> for ForecastJson {
    fn from(forecast: Forecast) -> Self {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        for (app, fires) in forecast.minutes.iter().flat_map(|minute| &minute.apps) {
            *sums.entry(forecast.apps[*app].clone()).or_default() += u64::from(*fires);
        }
        let minutes = forecast.minutes.into_iter().map(|minute| MinuteJson {
            at: minute.at,
            fires: minute.fires,
            apps: minute.apps.into_iter().map(|(app, fires)| (forecast.apps[app].clone(), fires)).collect(),
        });
        let seconds = forecast.busiest.into_iter();
        Self {
            from: forecast.from,
            to: forecast.to,
            complete_to: forecast.complete_to,
            jobs: forecast.jobs,
            more_jobs: forecast.more_jobs,
            fires: forecast.fires,
            minutes: minutes.collect(),
            busiest: seconds.map(|(at, fires)| SecondJson { at, fires }).collect(),
            apps: sums,
        }
    }
}
