//! The endpoints that admins call: authentication, admission of runs, kill, idle check, logs.

mod admission;
mod endpoints;
pub(crate) mod own_thread;
mod request_check;

pub(crate) use admission::Admission;
pub(crate) use endpoints::{Endpoints, serve};
pub(crate) use request_check::RequestCheck;
