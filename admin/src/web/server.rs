//! The HTTP server of a listener.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::{App, HttpServer, middleware};

use crate::web::executor_api;
use crate::web::guard::headers;
use crate::web::limits::connections::Connections;
use crate::web::limits::slow_body_guard;
use crate::web::routes::{ListenerRole, routes};
use crate::web::state::Shared;

/// The server on this listener; it runs when the future is awaited, and stops by its handle.
///
/// # Errors
/// The listener cannot be used.
pub fn serve(listener: TcpListener, state: Shared, role: ListenerRole) -> std::io::Result<Server> {
    let listeners = if role == ListenerRole::All { 1 } else { 2 };
    let connections = Arc::new(Connections::for_listeners(listeners));
    let server = HttpServer::new(move || {
        App::new()
            .app_data(state.clone())
            .wrap(middleware::Compress::default())
            .wrap(middleware::from_fn(slow_body_guard::guard))
            .wrap(middleware::from_fn(headers::guard))
            .configure(|config| routes(config, role))
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
