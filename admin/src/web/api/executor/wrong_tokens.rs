//! Executors that this node refused because of their token. A mistyped token must be seen: the executor itself may have no
//! log, and its app would only look empty. Kept in memory, each node its own.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use carillon_scheduler::Millis;

/// Sources that are kept; a new one takes the place of the one that was silent the longest.
const KEPT: usize = 50;
/// One source is logged once in this time.
const TELL_EVERY: Millis = 60_000;
/// All sources together are logged so often in that time: addresses can be made up.
const TOLD_AT_ONCE: usize = 10;
/// A source that was silent for so long is not shown any more.
const SHOWN_FOR: Millis = 24 * 3_600_000;

/// One source, and the app that it named in a header; stock executors name none there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongToken {
    pub source: IpAddr,
    pub app: Option<String>,
    pub last_at: Millis,
    pub count: u64,
    told_at: Option<Millis>,
}

#[derive(Default)]
pub struct WrongTokens(Mutex<Vec<WrongToken>>);

impl WrongTokens {
    /// A request with a wrong token came.
    pub fn note(&self, source: IpAddr, app: Option<&str>, now: Millis) {
        let app = app.filter(|app| app.len() <= 64);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |it: &WrongToken| it.source == source && it.app.as_deref() == app;
        let place = all.iter().position(is_it).unwrap_or_else(|| {
            if all.len() == KEPT {
                let oldest = (0..KEPT).min_by_key(|index| all[*index].last_at);
                all.remove(oldest.unwrap_or(0));
            }
            all.push(WrongToken {
                source,
                app: app.map(str::to_owned),
                last_at: now,
                count: 0,
                told_at: None,
            });
            all.len() - 1
        });
        let is_recent = |it: &WrongToken| it.told_at.is_some_and(|at| now - at < TELL_EVERY);
        let is_told =
            is_recent(&all[place]) || all.iter().filter(|it| is_recent(it)).count() >= TOLD_AT_ONCE;
        let it = &mut all[place];
        it.last_at = now;
        it.count += 1;
        if !is_told {
            it.told_at = Some(now);
            let app = app.unwrap_or("unknown");
            tracing::warn!(%source, app, requests = it.count, "an executor was refused: wrong access token");
        }
    }

    /// A registration with the right token came from there.
    pub fn forget(&self, source: IpAddr, app: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|it| it.source != source || it.app.as_deref().is_some_and(|named| named != app));
    }

    /// The last one first.
    pub fn recent(&self, now: Millis) -> Vec<WrongToken> {
        let mut all = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        all.retain(|it| now - it.last_at < SHOWN_FOR);
        all.sort_by_key(|it| std::cmp::Reverse(it.last_at));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(all: &WrongTokens) -> usize {
        let all = all.0.lock().unwrap();
        all.iter().filter(|it| it.told_at.is_some()).count()
    }

    #[test]
    fn sources_are_counted_bounded_and_logged_now_and_then() {
        let all = WrongTokens::default();
        let [a, b] = [1, 2].map(|last| IpAddr::from([10, 0, 0, last]));
        all.note(a, Some("billing"), 1_000);
        all.note(a, Some("billing"), 2_000);
        all.note(b, None, 3_000);
        let recent = all.recent(4_000);
        assert_eq!((recent[0].source, recent[0].count), (b, 1));
        assert_eq!(
            (recent[1].source, recent[1].count, recent[1].last_at),
            (a, 2, 2_000)
        );
        assert_eq!(
            recent[1].told_at,
            Some(1_000),
            "the second one is within a minute"
        );
        all.note(a, Some("billing"), 61_000);
        assert_eq!(all.recent(61_000)[0].told_at, Some(61_000));
        all.forget(a, "billing");
        assert_eq!(all.recent(61_000).len(), 1);
        assert_eq!(all.recent(3_000 + SHOWN_FOR), []);
        for number in 0..=255 {
            all.note(IpAddr::from([10, 0, 1, number]), None, 62_000);
        }
        assert_eq!(
            (all.recent(62_000).len(), told(&all)),
            (KEPT, TOLD_AT_ONCE - 1)
        );
    }
}
