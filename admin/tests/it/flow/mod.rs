//! The life of a run, stepped: the real program on a real database, with a clock that the test turns and real
//! executors on loopback. Nothing here sleeps; what happens on another thread is waited for with a limit.

mod backfill;
mod belonging;
mod catch_up;
mod children;
mod choices;
mod clocks;
mod crashes;
mod cutting;
mod degraded;
mod delay;
mod doubt;
mod edits;
mod explain;
mod fires;
mod gaps;
mod hard;
mod hard_cases;
mod interleavings;
mod leases;
mod limits;
mod lock_traffic;
mod lost;
mod no_centre;
mod node;
mod outcomes;
mod overlap;
mod probes;
mod prune;
mod recorder;
mod retries;
mod routes;
mod shares;
mod spread;
mod time_limits;
mod unknown_commits;
