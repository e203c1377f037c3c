//! Which listener serves which paths.

use actix_web::web;

use crate::web::console::routes as console;
use crate::web::{api, executor_api, health};

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenerRole {
    All,
    /// The executor protocol, on a listener of its own.
    Executors,
    /// Everything else.
    People,
}

/// All paths of a listener. Each group checks its callers.
pub fn routes(config: &mut web::ServiceConfig, role: ListenerRole) {
    if role != ListenerRole::People {
        // Needs the executors' token.
        executor_api::configure(config);
    }
    if role == ListenerRole::Executors {
        return;
    }
    // Open, except `/metrics`, which needs the API token.
    health::configure(config);
    // Needs the API token.
    api::configure(config);
    // Needs a session. It takes all other paths, so it comes last.
    console::configure(config);
}
