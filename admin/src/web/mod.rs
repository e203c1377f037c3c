//! Every URL of the program. Names actix-web and askama; changes a run only through `pipeline`.

mod api;
mod around;
mod assets;
mod bearer;
mod connections;
pub mod console;
mod csrf;
pub mod executor_api;
mod health;
pub mod held;
mod html;
mod kept;
mod login;
mod pace;
pub mod password;
mod preview;
mod session;
pub mod setup;
mod words;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub use actix_web::dev::{Server, ServerHandle};
use actix_web::{App, HttpServer, middleware, web};
use carillon_scheduler::Clock;

use self::connections::Connections;
use self::executor_api::WrongTokens;
use self::held::BodyMemory;
use crate::config::Config;
use crate::metrics::Metrics;
use crate::pipeline::Pipeline;
use crate::store::Store;

/// What every handler is given.
pub struct State {
    pub store: Arc<Store>,
    pub pipeline: Arc<Pipeline>,
    pub clock: Arc<dyn Clock>,
    pub config: Config,
    pub metrics: Arc<Metrics>,
    /// What all requests together hold of their bodies.
    pub body_memory: Arc<BodyMemory>,
    /// Executors that were refused because of their token.
    pub wrong_tokens: WrongTokens,
    /// False while starting and as soon as a stop begins.
    pub ready: Arc<AtomicBool>,
}

/// The state as the server's threads share it.
pub type Shared = web::Data<State>;

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    All,
    /// The executor protocol, on a listener of its own.
    Executors,
    /// Everything else.
    People,
}

/// All routes. Who may call what is said where each group is configured.
fn routes(config: &mut web::ServiceConfig, part: Part) {
    if part != Part::People {
        // The executors' token.
        executor_api::configure(config);
    }
    if part == Part::Executors {
        return;
    }
    // Nobody in particular; `/metrics` wants the API token.
    health::configure(config);
    // The API token.
    api::configure(config);
    // People with a session. Takes what is left, so it comes last.
    console::configure(config);
}

/// The server on this listener; it runs when the future is awaited, and stops by its handle.
///
/// # Errors
/// The listener cannot be used.
pub fn serve(listener: TcpListener, state: Shared, part: Part) -> std::io::Result<Server> {
    let listeners = if part == Part::All { 1 } else { 2 };
    let connections = Arc::new(Connections::for_listeners(listeners));
    let server = HttpServer::new(move || {
        App::new()
            .app_data(state.clone())
            .wrap(middleware::Compress::default())
            .wrap(middleware::from_fn(pace::guard))
            .configure(|config| routes(config, part))
    })
    .workers(2)
    .on_connect(move |connection, extensions| {
        connections.admit(connection, extensions);
        executor_api::remember_connection(connection, extensions);
    })
    .client_request_timeout(Duration::from_secs(10))
    .keep_alive(Duration::from_secs(75))
    .shutdown_timeout(5)
    .disable_signals()
    .listen(listener)?;
    Ok(server.run())
}
