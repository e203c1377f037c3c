//! One job's runs in this process: one runs, the others wait or are refused, as the block strategy says.

mod cancel;
mod execute;
mod lane;

pub(crate) use execute::CANCEL_GRACE;
pub(crate) use lane::{EnqueueResult, Lanes};
