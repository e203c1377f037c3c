//! The start page.

pub mod chart;
pub mod page;
