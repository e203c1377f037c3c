//! The form of a job: its rules, child jobs, parameters, and two users who save it.

mod children;
mod conflict;
mod params;
mod rules;

use super::forms;
use super::{client, run};
