use std::sync::Arc;
use std::time::Duration;

use super::sample::{Observed, Sample};
use crate::time::Millis;

/// The source of `now`.
pub trait Clock: Send + Sync {
    /// UTC epoch milliseconds.
    fn now(&self) -> Millis;

    /// Time since a fixed start; never goes back. The remaining validity of leases is measured with it.
    fn monotonic(&self) -> Duration;

    /// Takes an observation of the database's clock. A clock that follows no other clock ignores it.
    fn observe(&self, _sample: Sample) -> Observed {
        Observed::Slewed { by: 0 }
    }

    /// The time of this machine's own clock, UTC epoch ms. Where the database has a clock, it only confirms or contradicts a
    /// step of that clock. `None`: there is no clock other than [`Clock::now`].
    fn wall(&self) -> Option<Millis> {
        None
    }

    /// How long this machine has been suspended since its start, which [`Clock::monotonic`] does not count. Zero if the
    /// operating system does not report it.
    fn suspended(&self) -> Duration {
        Duration::ZERO
    }

    /// Processor time that the calling thread has used. Zero if the operating system does not report it.
    fn thread_time(&self) -> Duration {
        Duration::ZERO
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Millis {
        (**self).now()
    }

    fn monotonic(&self) -> Duration {
        (**self).monotonic()
    }

    fn observe(&self, sample: Sample) -> Observed {
        (**self).observe(sample)
    }

    fn wall(&self) -> Option<Millis> {
        (**self).wall()
    }

    fn suspended(&self) -> Duration {
        (**self).suspended()
    }

    fn thread_time(&self) -> Duration {
        (**self).thread_time()
    }
}
