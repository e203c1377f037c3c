//! The runs of each job in this process: one is executed, the others wait or are refused by the block strategy.

mod execute;
mod lane;

pub(crate) use execute::{CANCEL_GRACE, execute};
pub(crate) use lane::{EnqueueResult, Lanes};
