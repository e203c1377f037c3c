//! From a schedule to a claimed run, and what an edit changes of it.

mod adoption;
mod backfill;
mod catch_up;
mod delay;
mod delayed;
mod edits;
mod fires;
mod planning;
mod revisions;
mod scans;
mod slow_scan;
mod spread;
