//! What takes long or makes much: backfills, bulk actions, exports, the gap audit, runs by hand. One account leaves room for the
//! others. Each node counts for itself.

use std::sync::Arc;
use std::time::Duration;

use carillon_scheduler::Clock;
use carillon_store::{self as store, Actor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::manage::error::Error;
use crate::manage::limits::rate::RateLimit;
use crate::manage::limits::shares::Shares;

/// At once on this node, and of one account.
const OF_NODE: usize = 4;
const OF_ONE: usize = 2;
/// The longest time that a request waits for a place.
const PATIENCE: Duration = Duration::from_secs(5);
/// Runs by hand of one account, a second. One bulk action may ask for more; the next one waits until the rate has made up for it.
const RUNS: u32 = 1000;

/// Whose work it is: an account; 0: the API token of the settings.
pub(crate) type Requester = i64;

pub struct CostlyWork {
    clock: Arc<dyn Clock>,
    of_node: Arc<Semaphore>,
    of_one: Shares<Requester>,
    runs: RateLimit<Requester>,
}

/// Costly work is under way while this lives.
pub struct CostlyPlace {
    _permits: [OwnedSemaphorePermit; 2],
}

pub(crate) fn requester(by: &Actor) -> Requester {
    by.account_id.unwrap_or(0)
}

impl CostlyWork {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let of_node = Arc::new(Semaphore::new(OF_NODE));
        Self { clock, of_node, of_one: Shares::new(OF_ONE), runs: RateLimit::new(RUNS) }
    }

    /// Waits for a place, for a while.
    ///
    /// # Errors
    /// `TooMany`
    pub async fn enter(&self, by: &Actor) -> Result<CostlyPlace, Error> {
        let both = async { Ok([self.of_one.enter(requester(by)).await?, self.of_node.clone().acquire_owned().await?]) };
        let permits: Result<_, tokio::sync::AcquireError> =
            timeout(PATIENCE, both).await.map_err(|_| Error::TooMany(1))?;
        permits.map(|permits| CostlyPlace { _permits: permits }).map_err(|_| Error::TooMany(1))
    }

    /// Counts runs that an account starts by hand.
    ///
    /// # Errors
    /// `TooMany`: it has started too many already.
    pub fn count_runs(&self, count: usize, by: &Actor) -> Result<(), Error> {
        self.runs.take_many(requester(by), count, self.clock.monotonic()).map_err(Error::TooMany)
    }
}

/// Work of the processor, on a thread that serves no requests.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Error> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Error::Store(store::Error::Corrupt(error.to_string())))
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::ManualClock;
    use carillon_store::Grants;

    use super::*;

    fn by(account_id: i64) -> Actor {
        Actor::new("ada", "10.0.0.1", Grants::default()).with_account(account_id)
    }

    // covers: W11
    #[tokio::test(start_paused = true)]
    async fn one_account_has_half_of_the_places() {
        let work = CostlyWork::new(Arc::new(ManualClock::new(0)));
        let first = work.enter(&by(1)).await.unwrap();
        let _second = work.enter(&by(1)).await.unwrap();
        assert!(matches!(work.enter(&by(1)).await, Err(Error::TooMany(_))));
        let _others = [work.enter(&by(2)).await.unwrap(), work.enter(&by(3)).await.unwrap()];
        assert!(matches!(work.enter(&by(4)).await, Err(Error::TooMany(_))), "the node's places are taken");
        drop(first);
        assert!(work.enter(&by(4)).await.is_ok());
    }

    // covers: W11, S40
    #[test]
    fn runs_by_hand_have_a_rate_for_each_account() {
        let work = CostlyWork::new(Arc::new(ManualClock::new(0)));
        assert!(work.count_runs(9_999, &by(1)).is_ok() && work.count_runs(1, &by(1)).is_ok());
        assert!(matches!(work.count_runs(1, &by(1)), Err(Error::TooMany(1))));
        assert!(work.count_runs(1, &by(2)).is_ok());
    }
}
