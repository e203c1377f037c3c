//! Pauses and maintenance windows of apps.

pub mod list;
pub mod windows;
