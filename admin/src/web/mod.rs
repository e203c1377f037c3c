//! Every URL of the program. Names actix-web and askama; changes a run only through `pipeline`.

mod api;
mod around;
mod assets;
mod bearer;
mod connections;
pub mod console;
mod csrf;
pub mod executor_api;
mod forms;
mod health;
pub mod held;
mod html;
mod kept;
mod login;
mod pace;
pub mod password;
mod preview;
mod routes;
mod server;
mod session;
pub mod setup;
mod state;
mod text;
mod words;

pub use actix_web::dev::{Server, ServerHandle};

pub use routes::ListenerRole;
pub use server::serve;
pub use state::{Shared, State};
