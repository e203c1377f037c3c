//! The parameters of the engine, with the names of its description.

use std::time::Duration;

use crate::config::Config;
pub use crate::config::LostRule;

#[derive(Clone, Debug)]
pub struct Settings {
    /// How far ahead of its time an instant is claimed.
    pub look_ahead: Duration,
    /// Poll period of a shard's holder.
    pub scan_every: Duration,
    /// Longest pause of the due-loop.
    pub tick_every: Duration,
    /// A mark may be committed this long before its run is due; nothing is sent before.
    pub mark_ahead: Duration,
    /// Of the lock and of the database lease.
    pub ttl: Duration,
    pub renew_every: Duration,
    /// A holder trusts its lease for less time than it lasts.
    pub margin: Duration,
    /// Limit of a whole `/run` request, and of the wait between mark and request.
    pub send_limit: Duration,
    pub connect_limit: Duration,
    /// Wait before a sent run without an answer is "outcome unknown".
    pub unknown_after: Duration,
    /// A run with no registered executor fails so long after it was due.
    pub no_executor_after: Duration,
    /// Requests at once to one address.
    pub in_flight: usize,
    /// Marked runs that may wait for one address; above it the address is saturated.
    pub waiting: usize,
    /// An address is left alone so long after a refused connection or three time-outs.
    pub breaker: Duration,
    /// Runs in memory; above it nothing more is claimed.
    pub ring_capacity: usize,
    /// How long a registration counts: of our own SDK, and of any other executor.
    pub own_lease: Duration,
    pub stock_lease: Duration,
    /// Audit of a shard by its holder.
    pub resolve_every: Duration,
    /// When a run is given up whose executor is gone.
    pub lost_rule: LostRule,
    /// A run that was not sent so long after it was due is flagged, unless its job says otherwise.
    pub flag_after: Duration,
    /// An alarm that is open for so long is escalated.
    pub escalate_after: Duration,
    /// After its executor has agreed to a kill, a run without an end counts as killed, "unconfirmed".
    pub kill_confirm: Duration,
    /// A run that is still running so long after it was sent is checked at its executor, then after twice as long and
    /// so on. Also the pause between two looks.
    pub check_after: Duration,
}

impl Settings {
    pub fn of(config: &Config) -> Self {
        let seconds = Duration::from_secs;
        Self {
            look_ahead: config.look_ahead,
            scan_every: seconds(1),
            tick_every: Duration::from_millis(100),
            mark_ahead: Duration::from_millis(200),
            ttl: config.lease_ttl,
            renew_every: config.lease_ttl * 3 / 10,
            margin: config.lease_ttl / 10,
            send_limit: config.request_timeout,
            connect_limit: config.connect_timeout,
            unknown_after: (config.request_timeout * 2 + config.lease_ttl / 10).max(seconds(10)),
            no_executor_after: seconds(1),
            in_flight: config.in_flight,
            waiting: 1000,
            breaker: seconds(10),
            ring_capacity: config.ring_capacity,
            own_lease: seconds(30),
            stock_lease: seconds(90),
            resolve_every: seconds(10),
            lost_rule: config.lost_rule,
            flag_after: config.flag_after,
            escalate_after: config.escalate_after,
            kill_confirm: seconds(30),
            check_after: config.check_after,
        }
    }
}

/// Whole milliseconds, as times are written.
pub fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-19
    #[test]
    fn a_lease_outlasts_its_renewals_and_is_taken_over_in_time() {
        let second = Duration::from_secs(1);
        // Its range, and some lengths in it.
        for seconds in [3, 4, 5, 10, 30, 60] {
            let mut config = Config::new(std::path::Path::new("data"), String::new());
            config.lease_ttl = second * seconds;
            let of = Settings::of(&config);
            let trusted = of.ttl - of.margin;
            // Renewals are made by rounds: one that is due just after a round waits for the next.
            let longest = of.renew_every + of.scan_every;
            assert!(longest < trusted, "{seconds} s: no renewal may come too late");
            assert!(longest * 2 < trusted || seconds < 10, "{seconds} s: one may fail");
            // A dead holder's lease is over after a TTL, and a peer looks once in one and a half rounds at most.
            assert!(of.scan_every * 3 / 2 + of.tick_every < second * 3);
            // Nobody is asked about a run that its sender may still be sending.
            assert!(of.unknown_after > of.send_limit + of.margin, "{seconds} s");
        }
    }
}
