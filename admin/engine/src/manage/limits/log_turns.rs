//! How many logs of runs are read from executors at the same time, as people and programs ask for them.

use std::sync::Arc;

use carillon_store::Actor;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::manage::limits::costly::{Requester, requester};
use crate::manage::limits::shares::Shares;

/// Answers with a log that are in memory at the same time: each takes up to 12 MiB, 4 MiB of JSON, and its text twice while it is
/// repaired. An executor may take its time to answer, so one account and one app get only some of the places.
const AT_ONCE: usize = 8;
const OF_ACCOUNT: usize = 2;
const OF_APP: usize = 4;

pub struct LogTurns {
    all: Arc<Semaphore>,
    of_account: Shares<Requester>,
    of_app: Shares<String>,
}

impl Default for LogTurns {
    fn default() -> Self {
        let all = Arc::new(Semaphore::new(AT_ONCE));
        Self { all, of_account: Shares::new(OF_ACCOUNT), of_app: Shares::new(OF_APP) }
    }
}

impl LogTurns {
    /// Waits for a turn, which lasts while the answer lives.
    pub async fn enter(&self, app: &str, by: &Actor) -> Result<[OwnedSemaphorePermit; 3], AcquireError> {
        let of_account = self.of_account.enter(requester(by)).await?;
        let of_app = self.of_app.enter(app.to_owned()).await?;
        Ok([of_account, of_app, self.all.clone().acquire_owned().await?])
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use carillon_store::Grants;

    use super::*;

    // covers: W1
    #[tokio::test(start_paused = true)]
    async fn one_account_and_one_app_leave_places_for_the_logs_of_others() {
        let turns = LogTurns::default();
        let by = |id: i64| Actor::new("ada", "10.0.0.1", Grants::default()).with_account(id);
        let enter = async |app: &str, account: i64| {
            let (by, patience) = (by(account), Duration::from_secs(5));
            tokio::time::timeout(patience, turns.enter(app, &by)).await.ok().and_then(Result::ok)
        };
        let _of_one = [enter("slow", 1).await.unwrap(), enter("slow", 1).await.unwrap()];
        assert!(enter("billing", 1).await.is_none(), "the account has its share");
        let _of_app = [enter("slow", 2).await.unwrap(), enter("slow", 2).await.unwrap()];
        assert!(enter("slow", 3).await.is_none(), "the app has its share");
        let others = [enter("billing", 3).await.unwrap(), enter("billing", 3).await.unwrap()];
        let _more = [enter("billing", 4).await.unwrap(), enter("billing", 4).await.unwrap()];
        assert!(enter("orders", 5).await.is_none(), "the places of the node are taken");
        drop(others);
        assert!(enter("orders", 5).await.is_some());
    }
}
