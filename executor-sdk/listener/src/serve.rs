//! actix-web's application on a listener of ours.

use std::fmt;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_http::body::MessageBody;
use actix_http::error::DispatchError;
use actix_http::{HttpService, Request, Response};
use actix_server::Server;
use actix_service::{IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt as _, fn_service, map_config};
use actix_web::dev::AppConfig;
use tokio::net::TcpStream;

use crate::accept::accept;
use crate::places::Places;
use crate::stream::Io;
use crate::tls::Tls;

/// How a listener serves.
pub struct ServeOptions {
    pub places: Arc<Places>,
    /// None: plain HTTP.
    pub tls: Option<Arc<Tls>>,
    /// Threads.
    pub workers: usize,
    /// For the head of a request.
    pub head_within: Duration,
    /// Between two requests.
    pub keep_alive: Duration,
    /// How long requests may take to end after the signal to stop, in seconds.
    pub stop_within: u64,
}

/// The server on this listener; it runs when the future is awaited, and stops by its handle.
///
/// # Errors
/// The listener cannot be used.
pub fn serve<F, I, S, B>(listener: TcpListener, options: ServeOptions, app: F) -> io::Result<Server>
where
    F: Fn() -> I + Send + Clone + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig> + 'static,
    S::Future: 'static,
    S::Error: Into<actix_web::Error> + 'static,
    S::InitError: fmt::Debug,
    S::Response: Into<Response<B>> + 'static,
    S::Service: 'static,
    <S::Service as Service<Request>>::Future: 'static,
    B: MessageBody + 'static,
{
    let builder = Server::build().workers(options.workers).disable_signals().shutdown_timeout(options.stop_within);
    let stopping = builder.graceful_shutdown_signal();
    let address = listener.local_addr()?;
    let ServeOptions { places, tls, head_within, keep_alive, .. } = options;
    let builder = builder.listen(format!("carillon-{address}"), listener, move || {
        let stopping = stopping.clone();
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(keep_alive)
            .client_request_timeout(head_within)
            .client_disconnect_timeout(Duration::from_secs(1))
            .local_addr(address)
            .on_connect_ext(|io: &Io, data: &mut actix_http::Extensions| {
                data.insert(io.connection());
            });
        let app = app().into_factory().map_err(|error| error.into().error_response());
        let http = http.h1(map_config(app, |()| AppConfig::default()));
        let (places, tls) = (places.clone(), tls.clone());
        fn_service(move |tcp: TcpStream| {
            let accepted = accept(tcp, places.clone(), tls.clone());
            async move { accepted.await.map_err(DispatchError::Io) }
        })
        .and_then(http)
    })?;
    Ok(builder.run())
}
