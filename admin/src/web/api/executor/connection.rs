//! Cutting a connection without an answer, which actix-web has no word for.

use std::any::Any;
use std::net::Shutdown;

use actix_web::HttpRequest;
use actix_web::dev::Extensions;
use actix_web::rt::net::TcpStream;
use socket2::{SockRef, Socket};

struct Connection(Socket);

/// For `HttpServer::on_connect`: keeps a second handle to each connection.
pub fn remember(connection: &dyn Any, extensions: &mut Extensions) {
    if let Some(stream) = connection.downcast_ref::<TcpStream>()
        && let Ok(socket) = SockRef::from(stream).try_clone()
    {
        extensions.insert(Connection(socket));
    }
}

/// The client sees the connection end instead of an answer, and repeats.
pub fn cut(request: &HttpRequest) {
    if let Some(Connection(socket)) = request.conn_data::<Connection>() {
        // An error means that it has ended already.
        socket.shutdown(Shutdown::Both).unwrap_or(());
    }
}
