#![doc = include_str!("../README.md")]

pub mod config;
pub mod executor;
mod failpoint;
pub mod lease;
pub mod metrics;
pub mod pipeline;
pub mod runtime;
pub mod server;
pub mod store;
pub mod web;

pub use server::{Admin, Error};
