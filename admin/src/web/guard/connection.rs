//! What becomes of the connection of a request: cutting it without an answer, which actix-web has no word for, and what it may have
//! once its caller is known.

use actix_web::HttpRequest;
use carillon_listener::Connection;

use crate::web::limits::body_memory;

/// The client sees the connection end instead of an answer, and repeats.
pub fn cut(request: &HttpRequest) {
    if let Some(connection) = request.conn_data::<Connection>() {
        connection.cut();
    }
}

/// The caller has shown a credential: see [`Connection::set_known`].
pub fn set_known(request: &HttpRequest) {
    body_memory::set_known(request);
    if let Some(connection) = request.conn_data::<Connection>() {
        connection.set_known();
    }
}
