//! What an outcome writes, and what follows from it.

mod advance;
mod all_states;
mod by_hand;
mod chain;
mod children;
mod counted;
mod follow;
mod map;
mod reporters;
pub mod settle;
mod unanswered_runs;
mod watch;
pub mod workflow;
