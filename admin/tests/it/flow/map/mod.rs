//! Items of runs, over the wire: handed in, delivered, reported, read and ended.

mod items;
mod refusals;
