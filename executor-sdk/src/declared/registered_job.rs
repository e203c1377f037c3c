use std::sync::Arc;

use crate::handler::BoxedHandler;
use crate::map::{ItemClient, RegisteredMapJob};

/// What the name of a handler stands for.
#[derive(Clone)]
pub(crate) enum RegisteredJob {
    Handler(Arc<dyn BoxedHandler>),
    Map(RegisteredMapJob),
}

impl RegisteredJob {
    /// Map jobs send their items with `client`.
    pub(crate) fn connect(&self, client: &ItemClient) -> Arc<dyn BoxedHandler> {
        match self {
            Self::Handler(handler) => Arc::clone(handler),
            Self::Map(job) => job.connect(client.clone()),
        }
    }
}
