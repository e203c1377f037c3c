//! Limits of how many runs are at work together. Here it is decided who goes next; whether there is a slot is decided by the mark
//! (`carillon_store::limit`), which takes it. So what this node believes of slots and limits may be out of date without harm.

pub(crate) mod gate;
pub(crate) mod line;
mod notes;
pub(crate) mod rules;
mod slots_of_runs;
mod turns;
pub(crate) mod yields;
