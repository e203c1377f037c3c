//! Loops: jobs that one executor fires by itself, as long as its lease is renewed. Their fires have no rows.
//!
//! The invariant: an executor gets a loop only after the lease of the one before is over by the database's clock, was given back or never
//! renewed, which a call needs, and each grant has an epoch of its own. An executor trusts its lease for less time than it lasts, so two of them do not fire at one moment.

mod grant;
mod lease;
mod renew;
mod stop;
mod watch;

pub use grant::Grant;
pub(crate) use grant::{GRANT, GRANTED};
pub(crate) use lease::{ENDS, FREE};
pub use lease::{LoopEnd, LoopLease};
pub use renew::{LoopHolder, Report};
pub(crate) use renew::{RELEASE, RENEW, RENEWED};
pub(crate) use watch::WATCHED;
pub use watch::WatchedLoop;
