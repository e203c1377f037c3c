//! Runs as bars, drawn by the server, so that it works without script; the numbers are in a table below. The recent ones are counted
//! from the runs, a day or more from the summaries by hour, which outlive the runs.

use std::collections::BTreeMap;

use carillon_scheduler::{Millis, RunState};
use carillon_store::VisibleApps;
use carillon_store::report::counts::Counts;

use crate::web::console::badge::run_badge;
use crate::web::page::PageError;
use crate::web::state::State;

/// Height of the drawing, in its own units; a bar is 10 wide with its gap.
const HEIGHT: i64 = 100;
pub const BARS: i64 = 60;

const HOUR: Millis = 3_600_000;

/// The periods that can be chosen: word, key of the name, hours of a bar, bars. The first is the recent past.
pub const PERIODS: [(&str, &str, i64, i64); 4] = [
    ("", "period-recent", 0, 0),
    ("24h", "period-24h", 1, 24),
    ("7d", "period-7d", 3, 56),
    ("30d", "period-30d", 12, 60),
];

/// A bar's width in time and the key of the chart's name, the widest first.
const SPANS: [(Millis, &str); 3] = [(60_000, "last-hour"), (10_000, "last-10-min"), (1_000, "last-minute")];

/// A short history is shown in full, a long one as far back as it can be counted quickly.
fn span(now: Millis, oldest: Millis, is_cut: bool) -> (Millis, &'static str) {
    let age = now - oldest;
    let [hour, ten, minute] = SPANS;
    match is_cut {
        false if age > BARS * ten.0 => hour,
        false => ten,
        true if age >= BARS * hour.0 => hour,
        true if age >= BARS * ten.0 => ten,
        true => minute,
    }
}

/// A piece of a bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub x: i64,
    pub y: i64,
    pub height: i64,
    pub tone: &'static str,
}

/// One bar in numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers {
    pub at: Millis,
    pub good: i64,
    pub bad: i64,
    pub other: i64,
}

impl Numbers {
    fn at(at: Millis) -> Self {
        Self { at, good: 0, bad: 0, other: 0 }
    }

    fn sum(&self) -> i64 {
        self.good + self.bad + self.other
    }

    fn add_counts(&mut self, counts: &Counts) {
        self.good += counts.succeeded;
        self.bad += counts.bad();
        self.other += counts.killed + counts.cancelled;
    }

    fn add(&mut self, state: RunState, count: i64) {
        match run_badge(state).tone {
            "ok" => self.good += count,
            "failed" => self.bad += count,
            _ => self.other += count,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// The key of its name.
    pub span: &'static str,
    /// Its bars are of hours, so that their times need a date.
    pub is_long: bool,
    pub width: i64,
    pub pieces: Vec<Piece>,
    pub highest: i64,
    /// The bars that are not empty, the newest first.
    pub numbers: Vec<Numbers>,
    pub from: Millis,
}

/// None: nothing has run in the period.
pub async fn chart(
    state: &State,
    now: Millis,
    period: &str,
    visible: &VisibleApps,
) -> Result<Option<Chart>, PageError> {
    let known = PERIODS.iter().find(|(word, ..)| *word == period && !word.is_empty());
    match known {
        Some(&(_, name, hours, count)) => {
            let step = hours * HOUR;
            let from = now - now.rem_euclid(step) - (count - 1) * step;
            let found =
                state.store.reports().hourly_counts(i32::try_from(from / HOUR).unwrap_or(i32::MAX), visible).await?;
            let mut bars: BTreeMap<Millis, Numbers> = BTreeMap::new();
            for (hour, counts) in found.into_iter().map(|(hour, counts)| (i64::from(hour) * HOUR, counts)) {
                let at = hour - hour.rem_euclid(step);
                bars.entry(at).or_insert(Numbers::at(at)).add_counts(&counts);
            }
            bars.retain(|_, bar| bar.sum() > 0);
            let chart = draw(bars, from, step, name);
            Ok(chart.map(|chart| Chart { is_long: true, width: count * 10, ..chart }))
        }
        None => recent(state, now, visible).await,
    }
}

async fn recent(state: &State, now: Millis, visible: &VisibleApps) -> Result<Option<Chart>, PageError> {
    let Some((oldest, is_cut)) = state.store.runs().recent_since(visible).await? else {
        return Ok(None);
    };
    let (step, span) = span(now, oldest, is_cut);
    let from = now - now % step - (BARS - 1) * step;
    let mut bars: BTreeMap<Millis, Numbers> = BTreeMap::new();
    for (at, state, count) in state.store.runs().run_history(from, now, step, visible).await? {
        bars.entry(at).or_insert(Numbers::at(at)).add(state, count);
    }
    Ok(draw(bars, from, step, span))
}

fn draw(bars: BTreeMap<Millis, Numbers>, from: Millis, step: Millis, span: &'static str) -> Option<Chart> {
    let highest = bars.values().map(Numbers::sum).max()?;
    let mut pieces = vec![];
    for bar in bars.values() {
        let x = (bar.at - from) / step * 10;
        let mut top = HEIGHT;
        // Failures are at the bottom: a single one among thousands must be visible.
        for (count, tone) in [(bar.bad, "failed"), (bar.good, "ok"), (bar.other, "running")] {
            if count > 0 {
                let height = (count * HEIGHT / highest).clamp(4, HEIGHT).min(top);
                top -= height;
                pieces.push(Piece { x, y: top, height, tone });
            }
        }
    }
    Some(Chart {
        span,
        is_long: false,
        width: BARS * 10,
        pieces,
        highest,
        numbers: bars.into_values().rev().collect(),
        from,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_fits_the_history() {
        let minutes = |age: i64, is_cut| span(age * 60_000, 0, is_cut).1;
        assert_eq!((minutes(2, false), minutes(11, false)), ("last-10-min", "last-hour"));
        assert_eq!(
            (minutes(0, true), minutes(10, true), minutes(60, true)),
            ("last-minute", "last-10-min", "last-hour")
        );
    }

    #[test]
    fn bars_are_stacked_and_a_single_failure_is_seen() {
        let mut bar = Numbers::at(60_000);
        bar.add(RunState::Succeeded, 999);
        bar.add(RunState::Lost, 1);
        let chart = draw(BTreeMap::from([(60_000, bar)]), 0, 60_000, "last-hour").unwrap();
        assert_eq!(chart.highest, 1000);
        let piece = |index: usize| {
            let piece: &Piece = &chart.pieces[index];
            (piece.x, piece.y, piece.height, piece.tone)
        };
        assert_eq!(piece(0), (10, 96, 4, "failed"));
        assert_eq!(piece(1), (10, 0, 96, "ok"));
        assert_eq!(draw(BTreeMap::new(), 0, 1000, "last-minute"), None);
    }
}
