//! The one door for fires without a schedule.

use carillon_scheduler::Cause;

use crate::store::run::trigger::NewFire;
use crate::{Error, Pipeline};

/// A fire without a schedule: run now, API, child.
#[derive(Clone, Debug)]
pub struct Fire {
    pub job_id: i64,
    pub cause: Cause,
    /// None: the job's own.
    pub params: Option<String>,
    /// Bound to this executor, which must be registered for the job's app.
    pub address: Option<String>,
    /// A repeated key finds the run of the first time.
    pub idempotency_key: Option<String>,
}

impl Pipeline {
    /// Records a fire without a schedule; its run is there, `claimed`, when this returns. Answers the run's id.
    ///
    /// # Errors
    /// No such job; an address that is not registered for the job's app; the database.
    pub async fn fire(&self, ask: Fire) -> Result<i64, Error> {
        if let Some(address) = &ask.address {
            self.must_be_registered(ask.job_id, address).await?;
        }
        let fire = NewFire {
            job_id: ask.job_id,
            cause: ask.cause,
            params: ask.params,
            address: ask.address,
            idempotency_key: ask.idempotency_key,
        };
        let fired = self.store.insert_fire(&fire, self.clock.now()).await?.ok_or(Error::MissingJob)?;
        self.job_changed(fired.shard);
        Ok(fired.run_id)
    }

    /// The token goes with every request: only to an address that an executor of the app has registered.
    async fn must_be_registered(&self, job_id: i64, address: &str) -> Result<(), Error> {
        let jobs = self.jobs.current(&self.store, &[job_id]).await?;
        let job = jobs.get(&job_id).ok_or(Error::MissingJob)?;
        self.executors.refresh(&self.store).await?;
        let live = self.executors.live(&job.stored.app, self.clock.now());
        match live.iter().any(|candidate| candidate.address == address) {
            true => Ok(()),
            false => Err(Error::Address(address.to_owned())),
        }
    }
}
