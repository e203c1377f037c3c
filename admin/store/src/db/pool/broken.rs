//! What an error says about the connection that it came over.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use sea_orm::sqlx::mysql::MySqlDatabaseError;
use sea_orm::sqlx::{self, Error};
use sea_orm::{DbErr, RuntimeErr};

/// The connection itself failed.
pub fn is_lost(error: &Error) -> bool {
    matches!(error, Error::Io(_) | Error::Protocol(_) | Error::Tls(_) | Error::WorkerCrashed)
}

/// The connection must not be used again: it failed, the server has ended the session, or the server has become read-only,
/// as the former primary does after a fail-over (a new connection may reach the present one).
pub fn is_broken(error: &Error) -> bool {
    let Error::Database(inner) = error else {
        return !matches!(error, Error::RowNotFound | Error::ColumnDecode { .. } | Error::Decode(_) | Error::Encode(_));
    };
    if let Some(error) = inner.try_downcast_ref::<MySqlDatabaseError>() {
        return matches!(error.number(), 1053 | 1079 | 1290 | 1792 | 1836 | 1927 | 3169 | 4031);
    }
    let code = inner.code().unwrap_or_default();
    code.len() == 5
        && (code.starts_with("08")
            || matches!(&*code, "57P01" | "57P02" | "57P03" | "57P05" | "25P03" | "25P04" | "25006"))
}

/// The server is not there yet: worth another try while a caller waits for a connection.
pub fn is_starting(error: &Error) -> bool {
    match error {
        Error::Io(error) => error.kind() == io::ErrorKind::ConnectionRefused,
        Error::Database(error) => error.is_transient_in_connect_phase(),
        _ => false,
    }
}

pub fn timed_out(text: String) -> DbErr {
    connect_error(Error::Io(io::Error::new(io::ErrorKind::TimedOut, text)))
}

pub fn connect_error(error: Error) -> DbErr {
    DbErr::Conn(RuntimeErr::SqlxError(Arc::new(error)))
}

/// SQLSTATE (PostgreSQL), or the number (MySQL), for what a server says when it refuses a connection.
pub fn refusal(error: &Error) -> Option<Cow<'_, str>> {
    let Error::Database(inner) = error else {
        return None;
    };
    match inner.try_downcast_ref::<MySqlDatabaseError>() {
        Some(error) => Some(error.number().to_string().into()),
        None => sqlx::error::DatabaseError::code(&**inner),
    }
}
