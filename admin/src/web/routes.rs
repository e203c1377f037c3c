//! Which listener serves which paths, and the table of all of them.

use actix_web::web;

use crate::web::access::{Route, RouteEntry};
use crate::web::console::routes as console;
use crate::web::executor_api::service_callbacks;
use crate::web::state::State;
use crate::web::{api, executor_api, health, xxl_console};

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenerRole {
    All,
    /// The executor protocol, on a listener of its own.
    Executors,
    /// Everything else.
    People,
}

/// Every route that the program always has: `routes` mounts these, and those of `xxl_console` if they are switched on.
pub fn table() -> Vec<RouteEntry> {
    let api = api::all().into_iter().map(|route| Route { path: format!("{}{}", api::ROOT, route.path), ..route });
    let groups = executor_api::all()
        .into_iter()
        .chain(health::all())
        .chain(service_callbacks::all())
        .chain(api)
        .chain(console::all());
    groups.map(RouteEntry::from).collect()
}

/// All paths of a listener. Each group checks its callers.
pub fn routes(config: &mut web::ServiceConfig, role: ListenerRole, state: &State) {
    if role != ListenerRole::People {
        // Needs the executors' token.
        executor_api::configure(config);
    } else {
        executor_api::configure_elsewhere(config);
    }
    if role == ListenerRole::Executors {
        return;
    }
    // Open, except `/metrics`, which needs the API token.
    health::configure(config);
    // Open: the path proves itself. It lies below the API, whose other paths need a token.
    service_callbacks::configure(config);
    // Needs the API token.
    api::configure(config);
    // Needs a session of its own.
    if state.config.xxl_console_api {
        xxl_console::configure(config);
    }
    // Needs a session. It takes all other paths, so it comes last.
    console::configure(config);
}
