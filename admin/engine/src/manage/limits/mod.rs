//! How much one account may ask for: places of costly work and of logs, and rates.

pub mod costly;
pub(crate) mod log_turns;
pub mod rate;
pub(crate) mod shares;
