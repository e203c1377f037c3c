//! What will fire.

mod all_jobs;
mod busiest;
mod fire_walk;
mod load;
mod waiting;

pub use all_jobs::{Forecast, Forecaster, Minute};
pub use load::{LoadBySecond, SpreadChoice};
