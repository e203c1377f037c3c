//! Why an import ends without having written anything.

/// Of an import, a cut-over, an export or a shadow.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was given cannot be used; the text says what would be right.
    #[error("{0}")]
    Input(String),
    /// The database of xxl-job.
    #[error("the database of xxl-job: {0}")]
    Source(String),
    #[error(transparent)]
    Store(#[from] carillon_store::Error),
}

impl From<sea_orm::DbErr> for Error {
    fn from(error: sea_orm::DbErr) -> Self {
        let text = error.to_string();
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
