//! The start page.

pub mod chart;
mod failing;
pub mod page;
