//! Pauses of apps, and maintenance windows.

pub mod app_pauses;
pub mod maintenance_windows;
mod routes;

pub use routes::routes;
