//! Loops: jobs that this executor fires by itself, each under a lease that an admin renews.
//!
//! A loop calls its handler only while this process's clocks say that the last successful renewal is young enough. The grant allows nothing:
//! it may have been held up on its way, until another executor had the loop. So two executors do not fire at one moment, as long as
//! each trusts its lease for less time than the database lets it last.
//!
//! `registry` has the loops and talks about them, `renewal` asks for their renewal again and again, `local_loop` is one loop: it waits for
//! the next instant and calls the handler. The instants come from `instants`, in the admin's time, which `admin_clock` estimates.

mod admin_clock;
mod instants;
mod local_loop;
mod permission;
mod record;
mod registry;
mod renewal;
#[cfg(test)]
mod tests;

pub(crate) use registry::Loops;
