//! What is due is admitted, routed, marked `sending` by a commit, and sent.

pub(crate) mod admit;
pub(crate) mod broadcast;
pub(crate) mod dispatcher;
pub(crate) mod in_flight;
pub(crate) mod order;
pub(crate) mod overlap_tracker;
pub(crate) mod probe;
pub mod route;
pub mod send;
pub(crate) mod tick;
pub(crate) mod trace;
