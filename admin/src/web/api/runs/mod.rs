//! `/runs` and what belongs to one run.

mod bulk;
mod list;
mod one;

pub use bulk::bulk;
pub use list::list;
pub use one::{get, kill, log, resolve};
