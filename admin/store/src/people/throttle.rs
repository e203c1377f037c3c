//! How long a name or a source must wait before it may try another password. In the database, so that it holds on every
//! node and over a restart.

use crate::db::sql::retry;
use crate::error::Result;
use crate::store::Store;

/// Tries without a wait.
const FREE: i32 = 5;
const FIRST_WAIT_MS: i64 = 10_000;
const LONGEST_WAIT_MS: i64 = 15 * 60_000;
/// A subject that has been quiet for so long after its last wait starts afresh.
const FORGET_MS: i64 = 15 * 60_000;

/// May a password be tried?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    Allowed,
    /// Not before this moment.
    Refused {
        until_at: i64,
    },
}

impl Store {
    /// Counts an attempt before it is made: many at once cannot all slip through before the first failure is known.
    pub async fn begin_attempt(&self, subjects: &[String], now: i64) -> Result<Attempt> {
        // Whoever floods this has to wait already: that is read without a lock, beside the connections of the engine.
        if let Some(until_at) = self.wait_of(subjects, now).await? {
            return Ok(Attempt::Refused { until_at });
        }
        // Two first attempts of one subject may collide on its key.
        retry::on_race(|| self.try_attempt(subjects, now)).await
    }

    async fn wait_of(&self, subjects: &[String], now: i64) -> Result<Option<i64>> {
        let text = "SELECT until_at FROM login_throttle WHERE subject = ? AND until_at > ?";
        let mut latest = None;
        for subject in subjects {
            latest = latest.max(self.tuple(&self.read, text, values![subject.as_str(), now]).await?);
        }
        Ok(latest)
    }

    async fn try_attempt(&self, subjects: &[String], now: i64) -> Result<Attempt> {
        let tx = self.begin_change().await?;
        let text = "SELECT failures, until_at FROM login_throttle WHERE subject = ?{for_update}";
        let mut known: Vec<Option<(i32, i64)>> = Vec::with_capacity(subjects.len());
        for subject in subjects {
            known.push(self.tuple(&tx, text, values![subject.as_str()]).await?);
        }
        let latest = known.iter().flatten().map(|row| row.1).max().unwrap_or(0);
        if latest > now {
            return Ok(Attempt::Refused { until_at: latest });
        }
        for (subject, row) in subjects.iter().zip(known) {
            let failures = match row {
                Some((failures, until_at)) if until_at + FORGET_MS > now => failures + 1,
                _ => 1,
            };
            let text = if row.is_some() {
                "UPDATE login_throttle SET failures = ?, until_at = ? WHERE subject = ?"
            } else {
                "INSERT INTO login_throttle (failures, until_at, subject) VALUES (?, ?, ?)"
            };
            let until_at = now + wait_ms(failures);
            self.execute(&tx, text, values![failures, until_at, subject.as_str()]).await?;
        }
        self.execute(&tx, "DELETE FROM login_throttle WHERE until_at < ?", values![now - 2 * FORGET_MS]).await?;
        tx.commit().await?;
        Ok(Attempt::Allowed)
    }

    /// The password was right: the account's count ends, the source's loses this attempt.
    pub async fn end_attempt(&self, account: &str, source: &str, now: i64) -> Result<()> {
        let tx = self.begin_change().await?;
        self.execute(&tx, "DELETE FROM login_throttle WHERE subject = ?", values![account]).await?;
        let text = "UPDATE login_throttle SET failures = failures - 1, until_at = ? WHERE subject = ? AND failures > 0";
        self.execute(&tx, text, values![now, source]).await?;
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
