//! The loop of a best-effort job on its page.

use carillon_engine::loops::{LoopState, LoopView};
use carillon_protocol::{LoopCounters, LoopRun, SUCCESS};

use crate::web::console::badge::Badge;
use crate::web::locale::Message;
use crate::web::page::PageContext;

pub struct LocalLoop {
    pub found: LoopView,
}

impl LocalLoop {
    pub fn badge(&self) -> Badge {
        let (word, tone, icon) = match self.found.state {
            LoopState::Running => ("loop-running", "ok", "check"),
            LoopState::Stopping => ("loop-stopping", "waiting", "clock"),
            LoopState::Waiting => ("loop-waiting", "waiting", "warning"),
            LoopState::Off => ("loop-off", "none", "pause"),
        };
        badge(word, tone, icon)
    }

    pub fn result(&self, code: &i32) -> Badge {
        match *code == SUCCESS {
            true => badge("loop-succeeded", "ok", "check"),
            false => badge("loop-failed", "failed", "warning"),
        }
    }

    /// The last calls and the last failures, each list with the key of its name, if it has any.
    pub fn calls(&self) -> Vec<(&'static str, &[LoopRun])> {
        let Ok(history) = &self.found.history else { return vec![] };
        let lists = [("loop-runs", &history.runs[..]), ("loop-failures", &history.failures[..])];
        lists.into_iter().filter(|(_, calls)| !calls.is_empty()).collect()
    }

    /// What calls came to, in one line.
    pub fn counts(&self, context: &PageContext, counters: &LoopCounters) -> Message {
        let number = |count: u64| context.number(i64::try_from(count).unwrap_or(i64::MAX));
        context
            .t("loop-counts")
            .with("fired", number(counters.fired))
            .with("succeeded", number(counters.succeeded))
            .with("failed", number(counters.failed))
            .with("skipped", number(counters.skipped))
    }

    /// A line for each class of lateness that has calls.
    pub fn lateness(&self, context: &PageContext) -> Vec<String> {
        let classes = self.found.lateness().into_iter().filter(|(_, calls)| *calls > 0);
        let line = |(bound, calls): (Option<u32>, u64)| {
            let (key, bound) = match bound {
                Some(bound) => ("loop-late-up-to", bound),
                None => ("loop-late-over", 1_000),
            };
            let calls = context.number(i64::try_from(calls).unwrap_or(i64::MAX));
            context.t(key).with("bound", bound).with("calls", calls).to_string()
        };
        classes.map(line).collect()
    }

    /// `1.25 ms`
    pub fn micros(&self, us: &u64) -> String {
        format!("{}.{:02} ms", us / 1_000, us % 1_000 / 10)
    }
}

const fn badge(word: &'static str, tone: &'static str, icon: &'static str) -> Badge {
    Badge { word, tone, icon, moving: false, hint: "" }
}
