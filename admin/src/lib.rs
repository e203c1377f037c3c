#![doc = include_str!("../README.md")]

pub mod config;
pub mod server;
pub mod web;

pub use carillon_engine::{executor, lease, metrics, runtime};
pub use carillon_store as store;
pub use server::{Admin, Error};
