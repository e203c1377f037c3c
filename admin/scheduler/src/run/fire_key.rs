use std::fmt;
use std::str::FromStr;

use super::Cause;

/// What makes a fire's part unique, the same for all its attempts; handlers get it as their idempotency key.
///
/// ```
/// use carillon_scheduler::{Cause, FireKey};
///
/// let key = FireKey { job_id: 7, cause: Cause::Schedule, fire_no: 1_735_689_600_000, part: 0 };
/// assert_eq!(key.to_string(), "7:schedule:1735689600000:0");
/// assert_eq!("7:schedule:1735689600000:0".parse(), Ok(key));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FireKey {
    /// The job.
    pub job_id: i64,
    /// Why it fires.
    pub cause: Cause,
    /// The number within job and cause: of a schedule or backfill fire the instant in UTC ms; of a child fire the id
    /// of the parent fire's first run; of a manual or api fire the id of its own first run.
    pub fire_no: i64,
    /// The index of the part, 0 for all that is not broadcast.
    pub part: i32,
}

/// A text that is no fire key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a fire key; it reads <job>:<cause>:<number>:<part>, such as 7:schedule:1735689600000:0")]
pub struct FireKeyError(String);

impl fmt::Display for FireKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:{}", self.job_id, self.cause, self.fire_no, self.part)
    }
}

impl FromStr for FireKey {
    type Err = FireKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| FireKeyError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<FireKey> {
    let mut words = text.split(':');
    let key = FireKey {
        job_id: words.next()?.parse().ok()?,
        cause: words.next()?.parse().ok()?,
        fire_no: words.next()?.parse().ok()?,
        part: words.next()?.parse().ok()?,
    };
    words.next().is_none().then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_refused() {
        for text in ["", "7", "7:schedule:1", "7:cron:1:0", "7:schedule:x:0", "7:schedule:1:0:0"] {
            let error = text.parse::<FireKey>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{text}` is not a fire key")), "{error}");
        }
    }
}
