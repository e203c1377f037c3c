//! Questions that wait for a forecast. Each costs up to a second of one core, so their number is bounded; those who ask the same wait
//! together.

use std::sync::Arc;

use carillon_scheduler::Millis;
use carillon_store::VisibleApps;
use parking_lot::Mutex;

/// Different questions that may wait at once, the one that is being counted included.
pub(crate) const MOST_WAITING: usize = 4;

/// What a forecast depends on, beside the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForecastKey {
    pub(crate) span: Millis,
    pub(crate) visible: VisibleApps,
}

/// How many requests wait for the answer to each question.
#[derive(Clone, Default)]
pub(crate) struct Waiting(Arc<Mutex<Vec<(ForecastKey, usize)>>>);

impl Waiting {
    /// None: too many questions wait already.
    pub(crate) fn enter(&self, question: ForecastKey) -> Option<WaitingPlace> {
        let mut all = self.0.lock();
        let is_full = all.len() >= MOST_WAITING;
        match all.iter_mut().find(|(asked, _)| *asked == question) {
            Some((_, requests)) => *requests += 1,
            None if is_full => return None,
            None => all.push((question.clone(), 1)),
        }
        drop(all);
        Some(WaitingPlace { waiting: self.clone(), question })
    }

    /// Whether a request waits for the answer to this question.
    pub(crate) fn has(&self, question: &ForecastKey) -> bool {
        self.0.lock().iter().any(|(asked, _)| asked == question)
    }
}

/// The place of one request; free again when it is dropped.
pub(crate) struct WaitingPlace {
    waiting: Waiting,
    pub(crate) question: ForecastKey,
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        self.waiting.0.lock().retain_mut(|(asked, requests)| {
            *requests -= usize::from(*asked == self.question);
            *requests > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: V9
    #[test]
    fn a_few_questions_wait_and_each_with_all_who_ask_it() {
        let waiting = Waiting::default();
        let ask = |span| waiting.enter(ForecastKey { span, visible: VisibleApps::All });
        let mut places: Vec<_> = (0..MOST_WAITING as Millis).map(|span| ask(span).unwrap()).collect();
        assert!(ask(100).is_none(), "one too many");
        places.extend((0..1000).map(|number| ask(number % 2).unwrap()));
        places.truncate(1);
        assert!(waiting.has(&places[0].question) && ask(100).is_some());
        drop(places);
        assert!(waiting.0.lock().is_empty());
    }
}
