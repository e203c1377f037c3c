//! The last runs of a job as a strip of bars.

use std::collections::HashMap;

use carillon_scheduler::RunState;
use carillon_store::run::view::dashboard::RecentRun;

use crate::web::console::badge::{Badge, run_badge};
use crate::web::locale::Language;

/// The last runs of a job as small bars, the newest at the right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecentRunStrip {
    pub bars: Vec<Bar>,
    /// The same in words.
    pub label: String,
    pub last: Option<RecentRun>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bar {
    pub x: usize,
    pub y: usize,
    pub height: usize,
    pub tone: &'static str,
}

pub const RUNS_SHOWN: usize = 12;

impl RecentRunStrip {
    /// `marks` are newest first.
    pub fn new(language: Language, marks: Option<&Vec<RecentRun>>) -> Self {
        let marks = marks.map_or(&[][..], |marks| &marks[..marks.len().min(RUNS_SHOWN)]);
        let empty = RUNS_SHOWN - marks.len();
        let bars = marks.iter().rev().enumerate().map(|(index, mark)| {
            let tone = run_badge(mark.state).tone;
            let height = if tone == "failed" { 16 } else { 10 };
            Bar { x: (empty + index) * 6, y: 16 - height, height, tone }
        });
        Self { bars: bars.collect(), label: words(language, marks), last: marks.first().cloned() }
    }

    pub fn badge(&self) -> Option<Badge> {
        self.last.as_ref().map(|mark| run_badge(mark.state))
    }
}

/// `last 3 runs: 2 succeeded, 1 failed`
fn words(language: Language, marks: &[RecentRun]) -> String {
    let name = |state: RunState| language.text(run_badge(state).word);
    let mut counts: HashMap<RunState, usize> = HashMap::new();
    for mark in marks {
        *counts.entry(mark.state).or_default() += 1;
    }
    let of_state = |state: &RunState| {
        let part = language.text("strip-part").with("count", counts.get(state)?).with("state", name(*state));
        Some(part.to_string())
    };
    let parts: Vec<String> = RunState::ALL.iter().rev().filter_map(of_state).collect();
    match marks.len() {
        0 => String::new(),
        1 => language.text("strip-one").with("state", name(marks[0].state)).to_string(),
        count => language.text("strip-all").with("count", count).with("parts", parts.join(", ")).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(id: i64, state: RunState) -> RecentRun {
        RecentRun { id, state, scheduled_at: 0 }
    }

    #[test]
    fn a_strip_ends_with_the_newest_run_and_says_so_in_words() {
        let marks = vec![mark(3, RunState::Failed), mark(2, RunState::Succeeded), mark(1, RunState::Succeeded)];
        let strip = RecentRunStrip::new(Language::English, Some(&marks));
        let shown: Vec<_> = strip.bars.iter().map(|bar| (bar.x, bar.tone)).collect();
        assert_eq!(shown, [(54, "ok"), (60, "ok"), (66, "failed")]);
        assert_eq!(strip.label, "last 3 runs: 1 failed, 2 succeeded");
        assert_eq!(strip.badge(), Some(run_badge(RunState::Failed)));
        assert_eq!(RecentRunStrip::new(Language::English, None), RecentRunStrip::default());
    }
}
