//! From a crontab to jobs: each entry becomes a script job, or a job whose handler gets the script as parameters.

mod jobs;
mod line;
mod script;

pub use jobs::{CrontabFile, CrontabOptions, definitions};
