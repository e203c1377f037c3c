//! `/chartInfo`: runs of each day.

use carillon_scheduler::{Millis, RunState};
use carillon_store::RunFilter;
use carillon_store::report::read::{ReportFilter, ReportGroup};
use foldhash::HashMap;
use serde_json::json;

use super::answer::Reply;
use super::call::Call;
use super::dates;
use crate::web::api::Error;
use crate::web::reports::{MAX_DAYS, day_text};
use crate::web::state::{Shared, State};

/// Days, if none are asked for.
const USUAL_DAYS: i32 = 7;

pub async fn chart(state: Shared, call: Call) -> Reply {
    let (from_day, to_day) = days(&state, &call)?;
    let filter = ReportFilter { apps: call.visible(), from_day, to_day, ..ReportFilter::default() };
    let report = state.store.reports().read(&filter, ReportGroup::Day).await?;
    let report = report.ok_or_else(|| Error::field("startDate", "the span is too long; ask for fewer days"))?;
    let by_day: HashMap<i64, (i64, i64)> = report
        .lines
        .iter()
        .map(|line| (line.key, (line.counts.succeeded, line.counts.all() - line.counts.succeeded)))
        .collect();
    let running = running(&state, &call).await?;
    let today = state.store.report_day(state.clock.now());
    let list: Vec<i32> = (from_day..=to_day).collect();
    let of = |day: &i32| by_day.get(&i64::from(*day)).copied().unwrap_or_default();
    let sum = |part: fn((i64, i64)) -> i64| list.iter().map(|day| part(of(day))).sum::<i64>();
    Ok(call.done(json!({
        "triggerDayList": list.iter().map(|day| day_text((*day).into())).collect::<Vec<_>>(),
        "triggerDayCountRunningList": list.iter().map(|day| if *day == today { running } else { 0 }).collect::<Vec<_>>(),
        "triggerDayCountSucList": list.iter().map(|day| of(day).0).collect::<Vec<_>>(),
        "triggerDayCountFailList": list.iter().map(|day| of(day).1).collect::<Vec<_>>(),
        "triggerCountRunningTotal": running,
        "triggerCountSucTotal": sum(|counts| counts.0),
        "triggerCountFailTotal": sum(|counts| counts.1),
    })))
}

/// Runs that have not ended; they are shown on the present day.
async fn running(state: &State, call: &Call) -> Result<i64, Error> {
    let states = vec![RunState::Claimed, RunState::Sending, RunState::Running];
    let filter = RunFilter { apps: call.visible(), states, ..RunFilter::default() };
    let (counts, _) = state.store.runs().count_by_state(&filter).await?;
    Ok(counts.iter().map(|(_, count)| count).sum())
}

/// The first and the last day, as many as are kept.
fn days(state: &State, call: &Call) -> Result<(i32, i32), Error> {
    let zone = state.config.report_zone;
    let day = |name: &'static str| -> Result<Option<i32>, Error> {
        let wrong = |text: &str| Error::field(name, format!("“{text:.64}” is no time such as 2025-07-04 15:00:00"));
        let at = |text: &str| -> Result<Millis, Error> { dates::instant(text, zone).ok_or_else(|| wrong(text)) };
        call.parameters.text(&[name]).map(at).transpose().map(|at| at.map(|at| state.store.report_day(at)))
    };
    let today = state.store.report_day(state.clock.now());
    let to = day("endDate")?.unwrap_or(today).min(today);
    let from = day("startDate")?.unwrap_or(to - USUAL_DAYS + 1);
    let first = today - i32::try_from(MAX_DAYS).unwrap_or(i32::MAX) + 1;
    Ok((from.max(first), to))
}
