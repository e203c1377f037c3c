use sea_orm::{DbErr, SqlErr};

/// What can go wrong in the store, told apart by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("database: {0}")]
    Database(#[from] DbErr),
    #[error("{0}")]
    Schema(String),
    #[error("{0}")]
    Settings(String),
    /// A name or key that must be unique is taken.
    #[error("{0} is taken already")]
    Taken(String),
    #[error("{0} does not exist")]
    Missing(String),
    /// It has been changed since the caller looked.
    #[error("{0}")]
    Changed(String),
    /// What is stored cannot be used as it is.
    #[error(transparent)]
    Invalid(carillon_scheduler::FieldError),
    /// Others were quicker each time; worth another try.
    #[error("the database was too busy for this change; try again")]
    Busy,
    /// The shard's lease has another epoch: somebody else holds it now.
    #[error("shard {0} has another holder")]
    Fenced(i32),
    #[error("a stored value cannot be read: {0}")]
    Corrupt(String),
}

impl Error {
    /// Worth another try: the connection was lost, the pool is exhausted, a deadlock or a lock time-out.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => is_lost_connection(error) || is_lock_conflict(error),
            Self::Busy => true,
            _ => false,
        }
    }

    /// Deadlock, serialization failure or busy file: the same transaction may be repeated at once.
    pub fn is_lock_conflict(&self) -> bool {
        matches!(self, Self::Database(error) if is_lock_conflict(error))
    }

    pub fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Database(error) if matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_))))
    }
}

fn is_lost_connection(error: &DbErr) -> bool {
    use sea_orm::sqlx::Error as Sqlx;
    match error {
        DbErr::Conn(_) | DbErr::ConnectionAcquire(_) => true,
        _ => matches!(
            sqlx_error(error),
            Some(
                Sqlx::Io(_)
                    | Sqlx::PoolTimedOut
                    | Sqlx::PoolClosed
                    | Sqlx::WorkerCrashed
                    | Sqlx::Protocol(_)
                    | Sqlx::Tls(_)
            )
        ),
    }
}

/// PostgreSQL 40001, 40P01 and its shut-down classes; MySQL 1205, 1213; SQLite 5 and 6 (busy, locked).
fn is_lock_conflict(error: &DbErr) -> bool {
    let Some(sea_orm::sqlx::Error::Database(inner)) = sqlx_error(error) else {
        return false;
    };
    let code = inner.code().unwrap_or_default();
    matches!(&*code, "40001" | "40P01" | "5" | "6" | "261" | "517") || {
        let text = inner.message();
        text.contains("Deadlock found") || text.contains("Lock wait timeout")
    }
}

fn sqlx_error(error: &DbErr) -> Option<&sea_orm::sqlx::Error> {
    match error {
        DbErr::Exec(sea_orm::RuntimeErr::SqlxError(inner))
        | DbErr::Query(sea_orm::RuntimeErr::SqlxError(inner))
        | DbErr::Conn(sea_orm::RuntimeErr::SqlxError(inner)) => Some(inner),
        _ => None,
    }
}
