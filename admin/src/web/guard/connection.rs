//! Cutting a connection without an answer, which actix-web has no word for.

use actix_web::HttpRequest;
use carillon_listener::Connection;

/// The client sees the connection end instead of an answer, and repeats.
pub fn cut(request: &HttpRequest) {
    if let Some(connection) = request.conn_data::<Connection>() {
        connection.cut();
    }
}

/// The caller has shown a credential: see [`Connection::set_known`].
pub fn set_known(request: &HttpRequest) {
    if let Some(connection) = request.conn_data::<Connection>() {
        connection.set_known();
    }
}
