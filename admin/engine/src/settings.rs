//! The parameters of the engine, with the names of its description.

use std::ops::Deref;
use std::time::Duration;

/// When a run is given up whose executor is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LostRule {
    /// 30 s after its lease was over.
    #[default]
    Lease,
    /// xxl-job's: 10 minutes after the run was sent, if the executor is not registered then.
    Xxl,
}

/// What one app may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Live executors; those under names that no app has count together.
    pub app_executors: u32,
    /// Jobs.
    pub app_jobs: u64,
    /// Between two fires of a schedule that is saved.
    pub min_period: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { app_executors: 1000, app_jobs: 100_000, min_period: Duration::from_secs(1) }
    }
}

/// What a node may set: the other parameters follow from these. The default of each is the one of `carillon serve`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How far ahead of its time a fire is claimed; 1 s to 30 s.
    pub look_ahead: Duration,
    /// How long a node may work a shard after its last renewal, of the lock and of the database lease; 3 s to 60 s.
    pub lease_ttl: Duration,
    /// Limit for connecting to an executor; 50 ms to 10 s.
    pub connect_timeout: Duration,
    /// Limit for a whole request to an executor; longer than `connect_timeout`, at most 30 s.
    pub request_timeout: Duration,
    /// Requests at once to one executor address; 1 to 1000.
    pub in_flight: usize,
    /// When a run is given up whose executor is gone.
    pub lost_rule: LostRule,
    /// A run that was not sent this long after it was due is flagged; 1 s to 1 day. A job may have a time of its own.
    pub flag_after: Duration,
    /// An alarm that is open for this long is escalated; 1 min to 30 days.
    pub escalate_after: Duration,
    /// A run that is still running this long after it was sent is checked at its executor, then after twice as long and so on; 1 s to
    /// 1 h. Also the pause between two looks.
    pub check_after: Duration,
    /// What one app may have.
    pub limits: Limits,
    /// Scripts of jobs may be saved, and are sent.
    pub scripts: bool,
    /// Runs that wait in memory; above it nothing more is claimed. No flag sets it: for tests.
    pub ring_capacity: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            look_ahead: Duration::from_secs(5),
            lease_ttl: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(1),
            request_timeout: Duration::from_secs(3),
            in_flight: 32,
            lost_rule: LostRule::Lease,
            flag_after: Duration::from_secs(30),
            escalate_after: Duration::from_secs(30 * 60),
            check_after: Duration::from_secs(60),
            limits: Limits::default(),
            scripts: false,
            ring_capacity: 100_000,
        }
    }
}

/// The options, and what follows from them.
#[derive(Clone, Debug)]
pub struct Settings {
    options: Options,
    /// A job is claimed when its next fire is nearer than this.
    pub claim_within: Duration,
    /// Poll period of a shard's holder.
    pub scan_every: Duration,
    /// Longest pause of the due-loop.
    pub tick_every: Duration,
    /// A mark may be committed this long before its run is due; nothing is sent before.
    pub mark_ahead: Duration,
    pub renew_every: Duration,
    /// A holder trusts its lease for less time than it lasts.
    pub margin: Duration,
    /// Limit of a whole request to an executor, and of the wait between mark and request.
    pub send_limit: Duration,
    /// Wait before a sent run without an answer is "outcome unknown".
    pub unknown_after: Duration,
    /// A run with no registered executor fails this long after it was due.
    pub no_executor_after: Duration,
    /// Marked runs that may wait for one address that takes them one by one; above it the address is saturated.
    pub waiting: usize,
    /// An address is left alone this long after a refused connection or three time-outs.
    pub breaker: Duration,
    /// How long a registration counts: of our own SDK, and of any other executor.
    pub own_lease: Duration,
    pub stock_lease: Duration,
    /// Audit of a shard by its holder.
    pub resolve_every: Duration,
    /// This long after its executor agreed to a kill, a run without an end is looked for there; without the run the kill counts,
    /// "unconfirmed".
    pub kill_confirm: Duration,
}

impl Deref for Settings {
    type Target = Options;

    fn deref(&self) -> &Options {
        &self.options
    }
}

impl Settings {
    /// How long a lease is trusted from its request on.
    pub fn trust(&self) -> Duration {
        self.lease_ttl - self.margin
    }

    /// After this time a run that could not go is looked at again.
    pub fn retry_ms(&self) -> i64 {
        ms(self.tick_every + self.mark_ahead)
    }

    pub fn from_options(options: &Options) -> Self {
        let seconds = Duration::from_secs;
        Self {
            // Half of it, and two scans at least: one scan that comes late makes no run late.
            claim_within: (options.look_ahead / 2).max(seconds(2)).min(options.look_ahead),
            scan_every: seconds(1),
            tick_every: Duration::from_millis(100),
            mark_ahead: Duration::from_millis(200),
            renew_every: options.lease_ttl * 3 / 10,
            margin: options.lease_ttl / 10,
            send_limit: options.request_timeout,
            unknown_after: (options.request_timeout * 2 + options.lease_ttl / 10).max(seconds(10)),
            no_executor_after: seconds(1),
            waiting: 1000,
            breaker: seconds(10),
            own_lease: seconds(30),
            stock_lease: seconds(90),
            resolve_every: seconds(10),
            kill_confirm: seconds(30),
            options: options.clone(),
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
            let options = Options { lease_ttl: second * seconds, ..Options::default() };
            let of = Settings::from_options(&options);
            let trusted = of.lease_ttl - of.margin;
            // Renewals are made by rounds: one that is due just after a round waits for the next.
            let longest = of.renew_every + of.scan_every;
            assert!(longest < trusted, "{seconds} s: no renewal may come too late");
            assert!(longest * 2 < trusted || seconds < 10, "{seconds} s: one may fail");
            // A dead holder's lease is over after a TTL, and a peer looks once in one and a half rounds at most.
            assert!(of.scan_every * 3 / 2 + of.tick_every < second * 3);
            // No executor is asked about a run that its sender may still be sending.
            assert!(of.unknown_after > of.send_limit + of.margin, "{seconds} s");
        }
    }
}
