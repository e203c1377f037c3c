//! What an outcome does: retries, children, time limits.

mod children;
mod outcomes;
mod results;
mod retries;
mod time_limits;
