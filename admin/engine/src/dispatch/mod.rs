//! What is due is admitted, routed, marked `sending` by a commit, and sent.

pub(crate) mod admit;
pub mod app_pauses;
mod deferral;
pub(crate) mod departures;
pub(crate) mod dispatcher;
pub(crate) mod expand;
pub(crate) mod given_params;
pub(crate) mod limits;
pub(crate) mod maintenance;
pub(crate) mod mark;
pub(crate) mod mark_lead;
pub(crate) mod order;
pub(crate) mod overlap_tracker;
pub(crate) mod probe;
pub(crate) mod route;
pub(crate) mod send;
pub(crate) mod send_task;
pub(crate) mod stages;
pub(crate) mod trace;
