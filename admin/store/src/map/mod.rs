//! Map: a run hands in items; each is delivered in a further run of the same job, and a last run may read their results.
//!
//! The run that hands in items, the root, is `running` without an executor from its success to the end of its items. A delivery is a fire
//! of the job with the cause `item`: its number is the root's id, its part the number of the delivery, from 1; part 0 reads the results. Its
//! attempts follow the job's rules. What follows from the end of a delivery is done under the lock of the root ([`advance`]).

pub mod advance;
pub mod audit;
pub mod delivery;
pub mod pages;
mod prune;
pub mod results;
mod rows;
pub mod view;
