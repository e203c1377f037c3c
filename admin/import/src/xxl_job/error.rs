//! Why an import ends without having written anything.

use sea_orm::DbErr;

/// Of an import, a cut-over, an export or a shadow.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was given cannot be used; the text says what would be right.
    #[error("{0}")]
    Input(String),
    /// The database of xxl-job.
    #[error("the database of xxl-job: {0}")]
    Source(String),
    /// Its server, as host and port, or as a socket.
    #[error("the database of xxl-job: no answer from {0}; is the server running, and can this machine reach it?")]
    NoAnswer(String),
    #[error(transparent)]
    Store(#[from] carillon_store::Error),
}

impl Error {
    /// An error of the connection to this server.
    pub(super) fn of_server(self, server: &str) -> Self {
        match self {
            Self::NoAnswer(_) => Self::NoAnswer(server.to_owned()),
            error => error,
        }
    }
}

impl From<DbErr> for Error {
    fn from(error: DbErr) -> Self {
        let text = error.to_string();
        // The pool tries to connect until its time is over, and keeps the reason for itself.
        if text.contains("timed out") {
            return Self::NoAnswer("its server".to_owned());
        }
        let hint = if text.contains("RSA") {
            "; the account signs in with caching_sha2_password, which needs TLS: add ?ssl-mode=required to the address"
        } else if text.contains("tls") || text.contains("TLS") || text.contains("HandshakeFailure") {
            "; servers up to MySQL 5.7.27 have no TLS that is still accepted: add ?ssl-mode=disabled to the address"
        } else if text.contains("denied") {
            "; the account needs SELECT on the tables of xxl-job and nothing else"
        } else {
            ""
        };
        Self::Source(format!("{text}{hint}"))
    }
}
