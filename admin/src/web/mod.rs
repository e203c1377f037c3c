//! Every URL of the program. Names actix-web and askama; changes a run only through `pipeline`.

use std::sync::Arc;

use carillon_scheduler::Clock;

use crate::config::Config;
use crate::pipeline::Pipeline;
use crate::store::Store;

/// What every handler is given.
pub struct State {
    pub store: Arc<Store>,
    pub pipeline: Arc<Pipeline>,
    pub clock: Arc<dyn Clock>,
    pub config: Config,
    /// Shards of this database.
    pub shards: i32,
}
