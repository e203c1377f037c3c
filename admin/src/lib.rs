#![doc = include_str!("../README.md")]

pub mod cli;
pub mod config;
pub mod server;
pub mod web;

pub use server::{Admin, Error};
