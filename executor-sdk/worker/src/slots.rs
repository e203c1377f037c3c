//! As whom scripts run, and how many at once.

use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::process::geteuid;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// As whom scripts run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// As users of their own, from the first to the last number, one run each at a time; groups have the same numbers.
    Users(u32, u32),
    /// As the user of the worker, this number of them at once.
    Same(u32),
}

/// Why it cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WrongIdentity(String);

/// Users of people and services have smaller numbers.
const FIRST_FREE: u32 = 1_000;
const MOST: u32 = 1_000;

impl FromStr for Identity {
    type Err = WrongIdentity;

    /// `64000-64015`, or one number.
    fn from_str(text: &str) -> Result<Self, WrongIdentity> {
        let wrong = || {
            let right = "write the numbers of users that nobody else has, such as 64000-64015, at most 1000 of them from 1000 on";
            WrongIdentity(format!("`{text}` names no users: {right}"))
        };
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (Ok(first), Ok(last)) = (first.parse(), last.parse()) else { return Err(wrong()) };
        let is_fine = first >= FIRST_FREE && first <= last && last - first < MOST && last < u32::MAX;
        if is_fine { Ok(Self::Users(first, last)) } else { Err(wrong()) }
    }
}

impl Identity {
    /// # Errors
    /// Only root can run scripts as other users, and root itself never runs one.
    pub fn check(self) -> Result<(), WrongIdentity> {
        match (self, geteuid().is_root()) {
            (Self::Users(..), false) => Err(WrongIdentity(
                "scripts run as other users only if the worker is started by root; or say --same-user".to_owned(),
            )),
            (Self::Same(_), true) => Err(WrongIdentity(
                "root runs no script as itself; say as which users, such as --run-as 64000-64015".to_owned(),
            )),
            _ => Ok(()),
        }
    }
}

/// Places for runs; each is used by one at a time.
#[derive(Clone)]
pub struct Slots {
    permits: Arc<Semaphore>,
    free: Arc<Mutex<Vec<Option<u32>>>>,
}

/// A place that is in use.
pub struct Slot {
    /// None: the user of the worker.
    pub user: Option<u32>,
    free: Arc<Mutex<Vec<Option<u32>>>>,
    /// None: the place is not used again.
    permit: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub fn new(identity: Identity) -> Self {
        let free: Vec<Option<u32>> = match identity {
            Identity::Users(first, last) => (first..=last).rev().map(Some).collect(),
            Identity::Same(count) => vec![None; count as usize],
        };
        Self { permits: Arc::new(Semaphore::new(free.len())), free: Arc::new(Mutex::new(free)) }
    }

    /// Waits until one is free.
    pub async fn take(&self) -> Slot {
        let permit = Arc::clone(&self.permits).acquire_owned().await.expect("the semaphore is never closed");
        let user = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop().expect("as many as permits");
        Slot { user, free: Arc::clone(&self.free), permit: Some(permit) }
    }
}

impl Slot {
    /// Its user still has processes: no other run gets it.
    pub fn retire(mut self) {
        if let Some(permit) = self.permit.take() {
            permit.forget();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // Before the permit is given back: fields are dropped after this.
        if self.permit.is_some() {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.user);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_a_range_of_numbers_that_no_service_has() {
        assert_eq!("64000-64015".parse(), Ok(Identity::Users(64_000, 64_015)));
        assert_eq!("64000".parse(), Ok(Identity::Users(64_000, 64_000)));
        for wrong in ["", "0", "0-5", "root", "64000-63999", "64000-70000", "64000-", "999-1005", "4294967295"] {
            assert!(wrong.parse::<Identity>().is_err(), "{wrong}");
        }
    }

    #[tokio::test]
    async fn a_user_has_one_run_at_a_time() {
        let slots = Slots::new(Identity::Users(64_000, 64_001));
        let (first, second) = (slots.take().await, slots.take().await);
        assert_eq!((first.user, second.user), (Some(64_000), Some(64_001)));
        assert_eq!(slots.permits.available_permits(), 0);
        drop(first);
        let first = slots.take().await;
        assert_eq!(first.user, Some(64_000));
        second.retire();
        drop(first);
        let again = slots.take().await;
        assert_eq!(
            (again.user, slots.permits.available_permits()),
            (Some(64_000), 0),
            "a user with processes is left out"
        );
    }
}
