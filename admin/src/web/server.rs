//! The HTTP server of a listener.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::{App, middleware};
use carillon_listener::{ConnectionLimiter, Limits, ServeOptions, Tls};

use crate::web::executor_api::guard;
use crate::web::guard::{headers, path_prefix};
use crate::web::limits::slow_body_guard;
use crate::web::routes::{ListenerRole, routes};
use crate::web::state::Shared;
use crate::web::xxl_console;

/// The server on this listener; it runs when the future is awaited, and stops by its handle. Needs a tokio runtime.
///
/// # Errors
/// The listener cannot be used.
pub fn serve(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    state: Shared,
    role: ListenerRole,
) -> std::io::Result<Server> {
    let listeners = if role == ListenerRole::All { 1 } else { 2 };
    let proxies = state.config.trusted_proxies.clone();
    let limits = Limits { is_shared: Arc::new(move |peer| proxies.contains(peer)), ..Limits::for_listeners(listeners) };
    let options = ServeOptions {
        limiter: ConnectionLimiter::start(limits),
        tls,
        workers: 2,
        head_within: Duration::from_secs(10),
        keep_alive: Duration::from_secs(75),
        stop_within: 5,
    };
    carillon_listener::serve(listener, options, move || {
        App::new()
            .app_data(state.clone())
            .wrap(middleware::from_fn(path_prefix::prepend))
            .wrap(middleware::Compress::default())
            .wrap(middleware::from_fn(xxl_console::divert))
            .wrap(middleware::from_fn(slow_body_guard::guard))
            .wrap(middleware::from_fn(guard::guard))
            .wrap(middleware::from_fn(path_prefix::strip))
            .wrap(middleware::from_fn(headers::guard))
            .configure(|config| routes(config, role, &state))
    })
}
