//! HTTP: the console, the management API, the protocol of the executors, and the calls of xxl-job's console. Only this module names actix-web and askama; it
//! changes a run only through `engine`.

mod access;
mod api;
mod audit_export;
mod console;
mod csv;
pub mod executor_api;
mod forms;
mod from_request;
mod guard;
mod health;
mod limits;
mod locale;
mod page;
mod reports;
mod routes;
mod server;
mod state;
mod text;
mod xxl_console;

pub use actix_web::dev::{Server, ServerHandle};

pub use access::RouteEntry;
pub use api::document as openapi_document;
pub use console::account::openid::CALLBACK as OPENID_CALLBACK;
pub use limits::body_memory::BodyMemory;
pub use limits::token_look_ups::{CredentialLookUps, TokenLookUps};
pub use routes::{ListenerRole, table as route_table};
pub use server::serve;
pub use state::{Shared, State};
pub use xxl_console::route_table as xxl_console_route_table;
