//! Items of runs in the database: each is delivered, and has one outcome, and the run ends after all of them.

mod deliver;
mod ends;
mod maps;
mod pages;
