//! What the cluster has to do meanwhile: jobs, people who change them, fires by hand, executors that are none.

mod absent;
pub mod api;
mod clients;
mod delayed;
mod flows;
mod http;
pub mod items;
mod jobs;
pub mod limited;
pub mod loops;
mod poison;

pub use absent::Absent;
pub use api::Api;
pub use clients::{LONGEST_REST, note, work};
pub use delayed::delayed;
pub use flows::{flows, inner, steps};
pub use http::{ANSWERED as HTTP_ANSWERED, http};
pub use items::maps;
pub use jobs::{Herd, Planned, busy, children, parents, plan};
pub use limited::limited;
pub use loops::loops;
pub use poison::poison;

/// The app of the four recording executors.
pub const APP: &str = "load";
/// The app of a black hole and one executor that answers.
pub const HOLE: &str = "hole";
/// The app of an executor that accepts and never answers.
pub const HANG: &str = "hang";

/// The calendar of half of the jobs whose fires are counted.
pub const CALENDAR: &str = "far-away";

/// What is asked of the API, when, and what came of it.
pub type Calls = std::sync::Arc<std::sync::Mutex<Vec<crate::record::Call>>>;
