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
use crate::connection_limiter::ConnectionLimiter;
use crate::stream::Io;
use crate::tls::Tls;

/// How a listener serves.
pub struct ServeOptions {
    pub limiter: Arc<ConnectionLimiter>,
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
    let ServeOptions { limiter, tls, head_within, keep_alive, .. } = options;
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
        let (limiter, tls) = (limiter.clone(), tls.clone());
        fn_service(move |tcp: TcpStream| {
            let accepted = accept(tcp, limiter.clone(), tls.clone());
            async move { accepted.await.map_err(DispatchError::Io) }
        })
        .and_then(http)
    })?;
    Ok(builder.run())
}

#[cfg(test)]
mod tests {
    use actix_web::{App, HttpResponse, rt, web};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::connection_limiter::Limits;

    async fn fail() -> HttpResponse {
        panic!("a handler has a defect");
    }

    async fn answer(address: std::net::SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _cut = stream.read_to_string(&mut answer).await;
        answer
    }

    // covers: S38
    #[test]
    fn a_panic_ends_its_request_and_no_other() {
        rt::System::new().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let options = ServeOptions {
                limiter: ConnectionLimiter::start(Limits::of(16)),
                tls: None,
                // All requests share the thread of the one that panics.
                workers: 1,
                head_within: Duration::from_secs(5),
                keep_alive: Duration::from_secs(5),
                stop_within: 1,
            };
            let app = || App::new().route("/defect", web::get().to(fail)).route("/", web::get().to(HttpResponse::Ok));
            let server = serve(listener, options, app).unwrap();
            let handle = server.handle();
            rt::spawn(server);
            for _ in 0..3 {
                assert_eq!(answer(address, "/defect").await, "");
                assert!(answer(address, "/").await.starts_with("HTTP/1.1 200 "));
            }
            handle.stop(false).await;
        });
    }
}
