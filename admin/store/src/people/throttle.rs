//! How long an account, a browser or a source must wait before it may try another password. In the database, so that it holds
//! on every node and over a restart.

use crate::db::sql::retry;
use crate::error::Result;
use crate::views::PeopleStore;

/// Tries without a wait.
const FREE: i32 = 5;
const FIRST_WAIT_MS: i64 = 10_000;
const LONGEST_WAIT_MS: i64 = 15 * 60_000;
/// After this time without an attempt, counted from the end of its last wait, a subject starts again at 0.
const FORGET_MS: i64 = 15 * 60_000;

/// Tries of a source in a row, and the time in which it may make one more.
const BURST: i64 = 20;
const INTERVAL_MS: i64 = 6_000;

/// What attempts are counted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An account, or a browser that is known: each failure makes the wait longer.
    Single(String),
    /// A source, which many people may share: its attempts have a rate. A wait that grows would be a sentence on all of
    /// them, which one of them could renew without end.
    Shared(String),
}

impl Subject {
    fn name(&self) -> &str {
        match self {
            Self::Single(name) | Self::Shared(name) => name,
        }
    }

    /// How far `until_at` may lie ahead when an attempt is allowed.
    fn allowance(&self) -> i64 {
        match self {
            Self::Single(_) => 0,
            Self::Shared(_) => (BURST - 1) * INTERVAL_MS,
        }
    }

    /// The row after an attempt, from the one before it.
    fn counted(&self, row: Option<(i32, i64)>, now: i64) -> (i32, i64) {
        match (self, row) {
            (Self::Shared(_), row) => (0, row.map_or(now, |(_, until_at)| until_at.max(now)) + INTERVAL_MS),
            (Self::Single(_), Some((failures, until_at))) if until_at + FORGET_MS > now => {
                (failures + 1, now + wait_ms(failures + 1))
            }
            (Self::Single(_), _) => (1, now + wait_ms(1)),
        }
    }
}

/// May a password be tried?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    Allowed,
    /// Not before this moment.
    Refused {
        until_at: i64,
    },
}

impl PeopleStore<'_> {
    /// Counts an attempt before it is made: many at once cannot all slip through before the first failure is known.
    pub async fn begin_attempt(self, subjects: &[Subject], now: i64) -> Result<Attempt> {
        // A client that floods this has to wait already: that is read without a lock, beside the connections of the engine.
        if let Some(until_at) = self.wait_of(subjects, now).await? {
            return Ok(Attempt::Refused { until_at });
        }
        // Two first attempts of one subject may collide on its key.
        retry::on_race(|| self.try_attempt(subjects, now)).await
    }

    async fn wait_of(self, subjects: &[Subject], now: i64) -> Result<Option<i64>> {
        let text = "SELECT until_at FROM login_throttle WHERE subject = ? AND until_at > ?";
        let mut latest = None;
        for subject in subjects {
            let values = values![subject.name(), now + subject.allowance()];
            let until_at: Option<i64> = self.tuple(&self.read, text, values).await?;
            latest = latest.max(until_at.map(|until_at| until_at - subject.allowance()));
        }
        Ok(latest)
    }

    async fn try_attempt(self, subjects: &[Subject], now: i64) -> Result<Attempt> {
        let tx = self.begin_change().await?;
        let text = "SELECT failures, until_at FROM login_throttle WHERE subject = ?{for_update}";
        let mut known: Vec<Option<(i32, i64)>> = Vec::with_capacity(subjects.len());
        for subject in subjects {
            known.push(self.tuple(&tx, text, values![subject.name()]).await?);
        }
        let waits = subjects.iter().zip(&known).filter_map(|(subject, row)| Some((*row)?.1 - subject.allowance()));
        let latest = waits.max().unwrap_or(0);
        if latest > now {
            return Ok(Attempt::Refused { until_at: latest });
        }
        for (subject, row) in subjects.iter().zip(known) {
            let text = if row.is_some() {
                "UPDATE login_throttle SET failures = ?, until_at = ? WHERE subject = ?"
            } else {
                "INSERT INTO login_throttle (failures, until_at, subject) VALUES (?, ?, ?)"
            };
            let (failures, until_at) = subject.counted(row, now);
            self.execute(&tx, text, values![failures, until_at, subject.name()]).await?;
        }
        self.execute(&tx, "DELETE FROM login_throttle WHERE until_at < ?", values![now - 2 * FORGET_MS]).await?;
        tx.commit().await?;
        Ok(Attempt::Allowed)
    }

    /// The password was right: the count of an account or a browser ends, a source's loses this attempt.
    pub async fn end_attempt(self, subjects: &[Subject]) -> Result<()> {
        let tx = self.begin_change().await?;
        for subject in subjects {
            match subject {
                Subject::Single(name) => {
                    self.execute(&tx, "DELETE FROM login_throttle WHERE subject = ?", values![name.as_str()]).await?;
                }
                Subject::Shared(name) => {
                    let text = "UPDATE login_throttle SET until_at = until_at - ? WHERE subject = ?";
                    self.execute(&tx, text, values![INTERVAL_MS, name.as_str()]).await?;
                }
            }
        }
        Ok(tx.commit().await?)
    }
}

/// The wait after this number of failures in a row: 10 s after the fifth, doubling, never above 15 minutes.
fn wait_ms(failures: i32) -> i64 {
    if failures < FREE {
        return 0;
    }
    let doublings = (failures - FREE).min(20);
    (FIRST_WAIT_MS << doublings).min(LONGEST_WAIT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_starts_after_five_failures_and_grows_to_fifteen_minutes() {
        let waits: Vec<i64> = (0..=13).map(|n| wait_ms(n) / 1000).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
        assert_eq!(wait_ms(i32::MAX), LONGEST_WAIT_MS);
    }
}
