//! Executors that are not ours, with the real program.

mod python;
