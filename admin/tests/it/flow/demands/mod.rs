//! What published executors send and insist on, over raw HTTP against a node. `admin/tests/demands.tsv` lists the demands; those
//! without a test here are proved by tests of the rooms beside this one.

mod answers;
mod kills;
mod logs;
mod published;
mod raw;
mod registrations;
mod replies;
mod requests;
mod results;
