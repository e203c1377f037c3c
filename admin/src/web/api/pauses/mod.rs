//! Pauses of apps, and maintenance windows.

mod app_pauses;
pub mod maintenance_windows;

pub use app_pauses::{create, end, list};
