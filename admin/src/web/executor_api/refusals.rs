//! Executors that this node refused. A mistyped token, path or address must be seen: the executor itself may have no log, and its
//! app would only look empty. Kept in memory, each node its own.

use std::collections::VecDeque;
use std::net::IpAddr;

use carillon_scheduler::Millis;
use parking_lot::Mutex;

/// Sources that are kept; a new one takes the place of the one that was silent the longest.
const KEPT: usize = 50;
/// One source is logged at most once in this time.
const LOG_INTERVAL: Millis = 60_000;
/// At most this number of log lines for all sources together within `LOG_INTERVAL`: addresses can be made up.
const LOG_LIMIT: usize = 10;
/// A source without a request for this long is not shown any more.
const SHOWN_FOR: Millis = 24 * 3_600_000;

/// After a registration from the same source, one that named no app is kept if it came again within this time: executors
/// repeat theirs every 30 s.
const REPEATED_WITHIN: Millis = 2 * 60_000;

/// Why requests of an executor were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalReason {
    WrongToken,
    /// The token is right, and the app accepts its own alone.
    NotOfApp,
    UnknownPath,
    /// Executors have a listener of their own.
    OtherListener,
}

impl RefusalReason {
    /// For the log.
    const fn text(self) -> &'static str {
        match self {
            Self::WrongToken => "wrong access token",
            Self::NotOfApp => "the app does not accept this access token",
            Self::UnknownPath => "the path is none of the protocol",
            Self::OtherListener => "executors register at --executor-listen, not at --listen",
        }
    }

    /// The key of its sentence on the page.
    pub const fn key(self) -> &'static str {
        match self {
            Self::WrongToken => "app-refused-token",
            Self::NotOfApp => "app-refused-app",
            Self::UnknownPath => "app-refused-path",
            Self::OtherListener => "app-refused-listener",
        }
    }
}

/// One source and reason, and the app that it named; stock executors name it in the body alone, which is not read before the
/// token is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedExecutor {
    pub source: IpAddr,
    pub reason: RefusalReason,
    pub app: Option<String>,
    pub last_at: Millis,
    pub count: u64,
    logged_at: Option<Millis>,
    audited_at: Option<Millis>,
}

#[derive(Default)]
pub struct RefusedExecutors(Mutex<State>);

#[derive(Default)]
struct State {
    sources: Vec<RefusedExecutor>,
    /// The times of the last log lines, at most `LOG_LIMIT` of them. They are kept apart from the sources: a flood of made-up
    /// addresses evicts the sources that were logged.
    logged: VecDeque<Millis>,
}

impl State {
    /// The source's place; the one that was silent the longest gives up its own if all are taken.
    fn place(&mut self, source: IpAddr, reason: RefusalReason, app: Option<&str>, now: Millis) -> usize {
        let all = &mut self.sources;
        let is_it = |it: &RefusedExecutor| it.source == source && it.reason == reason && it.app.as_deref() == app;
        if let Some(place) = all.iter().position(is_it) {
            return place;
        }
        if all.len() == KEPT {
            let oldest = (0..KEPT).min_by_key(|index| all[*index].last_at);
            all.remove(oldest.unwrap_or(0));
        }
        let app = app.map(str::to_owned);
        all.push(RefusedExecutor { source, reason, app, last_at: now, count: 0, logged_at: None, audited_at: None });
        all.len() - 1
    }

    /// Counts a log line, or refuses it.
    fn may_log(&mut self, place: usize, now: Millis) -> bool {
        let is_recent = |at: Millis| now - at < LOG_INTERVAL;
        self.logged.retain(|at| is_recent(*at));
        if self.sources[place].logged_at.is_some_and(is_recent) || self.logged.len() >= LOG_LIMIT {
            return false;
        }
        self.sources[place].logged_at = Some(now);
        self.logged.push_back(now);
        true
    }
}

impl RefusedExecutors {
    /// A request was refused. True: it is to be audited, as the first of this source, reason and app within a minute.
    pub fn note(&self, source: IpAddr, reason: RefusalReason, app: Option<&str>, now: Millis) -> bool {
        let app = app.filter(|app| app.len() <= 64);
        let mut state = self.0.lock();
        let place = state.place(source, reason, app, now);
        let it = &mut state.sources[place];
        it.last_at = now;
        it.count += 1;
        let requests = it.count;
        if state.may_log(place, now) {
            // Without a name: its client names the app in the body alone.
            tracing::warn!(client.address = %source, app.name = app, request.count = requests, reason = reason.text(), "an executor was refused");
        }
        let it = &mut state.sources[place];
        let is_due = it.audited_at.is_none_or(|at| !(0..LOG_INTERVAL).contains(&(now - at)));
        if is_due {
            it.audited_at = Some(now);
        }
        is_due
    }

    /// An executor of this app registered from there. What named no app may be of another executor of the same host, which goes on.
    pub fn forget(&self, source: IpAddr, app: &str, now: Millis) {
        let is_over = |it: &RefusedExecutor| match &it.app {
            Some(named) => named == app,
            None => now - it.last_at > REPEATED_WITHIN,
        };
        self.0.lock().sources.retain(|it| it.source != source || !is_over(it));
    }

    /// The last one first.
    pub fn recent(&self, now: Millis) -> Vec<RefusedExecutor> {
        let mut all = self.0.lock().sources.clone();
        all.retain(|it| now - it.last_at < SHOWN_FOR);
        all.sort_by_key(|it| std::cmp::Reverse(it.last_at));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_counted_bounded_and_logged_now_and_then() {
        let all = RefusedExecutors::default();
        let [a, b] = [1, 2].map(|last| IpAddr::from([10, 0, 0, last]));
        assert!(all.note(a, RefusalReason::WrongToken, Some("billing"), 1_000), "to be audited");
        assert!(!all.note(a, RefusalReason::WrongToken, Some("billing"), 2_000), "not again");
        assert!(all.note(b, RefusalReason::WrongToken, None, 3_000));
        let recent = all.recent(4_000);
        assert_eq!((recent[0].source, recent[0].count), (b, 1));
        assert_eq!((recent[1].source, recent[1].count, recent[1].last_at), (a, 2, 2_000));
        assert_eq!(recent[1].logged_at, Some(1_000), "the second one is within a minute");
        assert!(all.note(a, RefusalReason::WrongToken, Some("billing"), 61_000), "a minute later");
        assert_eq!(all.recent(61_000)[0].logged_at, Some(61_000));
        all.note(a, RefusalReason::NotOfApp, Some("orders"), 61_000);
        all.forget(a, "billing", 61_000);
        all.forget(b, "orders", 61_000);
        assert_eq!(all.recent(61_000).len(), 2, "another executor of that host, which names no app");
        all.forget(a, "orders", 61_000);
        all.forget(b, "orders", 3_000 + REPEATED_WITHIN + 1);
        assert_eq!(all.recent(61_000), [], "it has not come again");
        all.note(b, RefusalReason::WrongToken, None, 3_000);
        assert_eq!(all.recent(3_000 + SHOWN_FOR), []);
        for number in 0..=255 {
            all.note(IpAddr::from([10, 0, 1, number]), RefusalReason::WrongToken, None, 62_000);
        }
        assert_eq!(all.recent(62_000).len(), KEPT);
        let logged = |state: &State, at| state.logged.iter().filter(|it| **it == at).count();
        assert_eq!(
            logged(&all.0.lock(), 62_000),
            LOG_LIMIT - 4,
            "256 sources, and four lines were written within the minute before"
        );
        for number in 0..=255 {
            all.note(IpAddr::from([10, 0, 2, number]), RefusalReason::WrongToken, None, 122_000);
        }
        assert_eq!(logged(&all.0.lock(), 122_000), LOG_LIMIT, "a minute later");
    }
}
