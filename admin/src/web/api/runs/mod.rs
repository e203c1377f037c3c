//! `/runs` and what belongs to one run.

mod bulk;
mod items;
mod list;
mod one;
mod workflow;

pub use bulk::bulk;
pub use items::{items, map};
pub use list::list;
pub use one::{get, kill, log, move_to, resolve};
pub use workflow::{decide, get as get_workflow, rerun};
