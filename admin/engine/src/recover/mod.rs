//! Runs without an answer, and runs whose executor may have lost them.

pub(crate) mod agreed_kills;
mod callbacks;
mod check;
pub(crate) mod check_schedule;
pub(crate) mod end_of_log;
pub(crate) mod evidence;
mod http_resend;
pub(crate) mod inquiry;
pub(crate) mod kills;
pub(crate) mod lease_ends;
pub(crate) mod lost;
pub(crate) mod monitor;
pub(crate) mod orphans;
pub(crate) mod resolver;
pub(crate) mod run_checks;
pub(crate) mod run_knowledge;
pub(crate) mod stuck;
