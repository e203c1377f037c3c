#![doc = include_str!("../README.md")]

pub mod config;
pub mod executor;
pub mod lease;
pub mod metrics;
pub mod pipeline;
pub mod runtime;
pub mod server;
pub mod web;

pub use carillon_store as store;
use carillon_store::failpoint;
pub use server::{Admin, Error};
