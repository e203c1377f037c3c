//! Cutting a connection without an answer, which actix-web has no word for.

use std::any::Any;
use std::net::Shutdown;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use socket2::{SockRef, Socket};

/// A second handle to the connection of a request.
#[derive(Clone)]
pub struct Connection(Arc<Socket>);

/// For `HttpServer::on_connect`: keeps a second handle to each connection.
pub fn remember(connection: &dyn Any, extensions: &mut Extensions) {
    if let Some(stream) = connection.downcast_ref::<TcpStream>()
        && let Ok(socket) = SockRef::from(stream).try_clone()
    {
        extensions.insert(Connection(Arc::new(socket)));
    }
}

impl Connection {
    /// The client sees it end instead of an answer.
    pub fn cut(&self) {
        // An error means that it has ended already.
        self.0.shutdown(Shutdown::Both).unwrap_or(());
    }
}

/// The client sees the connection end instead of an answer, and repeats.
pub fn cut(request: &HttpRequest) {
    if let Some(connection) = request.conn_data::<Connection>() {
        connection.cut();
    }
}
