//! The form of a job: its rules, child jobs, parameters, and two users who save it.

mod children;
mod conflict;
mod curl;
mod http;
mod like;
mod loops;
mod params;
mod parts;
mod rules;
mod send_once;
mod unchanged;

use super::forms;
use super::{client, run};
