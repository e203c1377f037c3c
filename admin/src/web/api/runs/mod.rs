//! `/runs` and what belongs to one run.

mod bulk;
mod list;
mod one;
mod routes;

pub use bulk::{RunBulk, bulk};
pub use list::list;
pub use one::{Resolution, get, kill, log, resolve};
pub use routes::routes;
