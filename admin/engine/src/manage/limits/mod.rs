//! How much one account may ask for: places of costly work and of logs, and rates. And how many runs may be at work together.

pub mod costly;
pub(crate) mod log_turns;
pub mod rate;
pub(crate) mod run_limits;
pub(crate) mod shares;
