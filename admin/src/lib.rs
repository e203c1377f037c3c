pub mod config;
pub mod pipeline;
pub mod store;
pub mod web;
