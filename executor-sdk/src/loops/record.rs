//! What the calls of a loop came to: counters since the grant, and the last calls.

use std::collections::VecDeque;

use carillon_protocol::{CallbackItem, LoopCounters, LoopFailure, LoopHistory, LoopRun, MAX_LOOP_TEXT_BYTES, SUCCESS};

/// Calls that are remembered, and as many that failed.
const REMEMBERED: usize = 20;

#[derive(Default)]
pub(super) struct Record {
    pub(super) counters: LoopCounters,
    pub(super) last_fired_at: Option<i64>,
    runs: VecDeque<LoopRun>,
    failures: VecDeque<LoopRun>,
}

impl Record {
    pub(super) fn start(&mut self, instant: i64, late_us: u64) {
        self.counters.count_start(late_us);
        self.counters.running += 1;
        self.last_fired_at = Some(instant);
    }

    pub(super) fn end(&mut self, instant: i64, late_us: u64, took_us: u64, result: CallbackItem) {
        self.counters.running = self.counters.running.saturating_sub(1);
        let run = LoopRun { at: instant, late_us, took_us, code: result.code, text: result.message.map(cut) };
        if run.code == SUCCESS {
            self.counters.succeeded += 1;
            self.counters.failed_in_row = 0;
        } else {
            self.counters.failed += 1;
            self.counters.failed_in_row += 1;
            push(&mut self.failures, run.clone());
        }
        push(&mut self.runs, run);
    }

    pub(super) fn last_failure(&self) -> Option<LoopFailure> {
        let failure = self.failures.front()?;
        Some(LoopFailure { at: failure.at, text: failure.text.clone().unwrap_or_default() })
    }

    pub(super) fn history(&self) -> LoopHistory {
        LoopHistory { runs: self.runs.iter().cloned().collect(), failures: self.failures.iter().cloned().collect() }
    }
}

fn push(list: &mut VecDeque<LoopRun>, run: LoopRun) {
    list.truncate(REMEMBERED - 1);
    list.push_front(run);
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_LOOP_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_LOOP_TEXT_BYTES - "…".len()));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(code: i32, text: &str) -> CallbackItem {
        CallbackItem { log_id: 0, log_date_time: 0, code, message: Some(text.to_owned()), received_at: 0 }
    }

    #[test]
    fn the_last_calls_are_remembered_and_failures_longer() {
        let mut record = Record::default();
        for at in 0..100 {
            record.start(at, 10);
            record.end(at, 10, 20, result(if at < 5 || at == 40 { 500 } else { 200 }, &at.to_string()));
        }
        let LoopHistory { runs, failures } = record.history();
        assert_eq!(runs.iter().map(|run| run.at).collect::<Vec<_>>(), (80..100).rev().collect::<Vec<_>>());
        assert_eq!(failures.iter().map(|run| run.at).collect::<Vec<_>>(), [40, 4, 3, 2, 1, 0]);
        assert_eq!(record.last_failure(), Some(LoopFailure { at: 40, text: "40".to_owned() }));
        let LoopCounters { fired, succeeded, failed, running, failed_in_row, .. } = record.counters;
        assert_eq!((fired, succeeded, failed, running, failed_in_row), (100, 94, 6, 0, 0));
        assert_eq!(record.last_fired_at, Some(99));
    }

    #[test]
    fn a_long_text_is_cut_within_its_limit() {
        for unit in ["x", "ß", "…", "🐌"] {
            let text = cut(unit.repeat(2_000));
            assert!((MAX_LOOP_TEXT_BYTES - 4..=MAX_LOOP_TEXT_BYTES).contains(&text.len()), "{} bytes", text.len());
            assert!(text.ends_with('…'));
        }
        assert_eq!(cut("x".repeat(MAX_LOOP_TEXT_BYTES)).len(), MAX_LOOP_TEXT_BYTES);
    }
}
