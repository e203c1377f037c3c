//! Calendars, backfills, explanations, skipped fires, the gap audit, retention, nodes, and logs.

mod backfills;
mod calendars;
mod degraded;
mod explain;
mod families;
mod gaps;
mod imports;
mod limits;
mod retention;
mod scheduled;
mod skipped;
mod tasks;

use super::client;
use super::pages;
use super::run;
