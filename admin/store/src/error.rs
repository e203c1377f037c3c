use std::borrow::Cow;

use sea_orm::{DbErr, SqlErr};

use crate::db::sql::unique_key::UniqueKey;

pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong in the store, by what the caller can do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("database: {0}")]
    Database(#[from] DbErr),
    /// There is no connection to it; the text says why, with host and port, and holds no password.
    #[error("cannot open the database: {0}")]
    Unreachable(String),
    #[error("{0}")]
    Schema(String),
    #[error("{0}")]
    Settings(String),
    /// A name or key that must be unique is taken.
    #[error("{0} is taken already")]
    Taken(String),
    #[error("{0} does not exist")]
    Missing(String),
    /// Others need it.
    #[error("{0}")]
    InUse(String),
    /// The object has been changed since the caller read it.
    #[error("{0}")]
    Changed(String),
    /// What is stored cannot be used as it is.
    #[error(transparent)]
    Invalid(carillon_scheduler::FieldError),
    /// What is asked for cannot be stored: only the database could decide it.
    #[error(transparent)]
    Refused(carillon_scheduler::FieldError),
    /// Others were quicker each time; worth another try.
    #[error("the database was too busy for this change; try again")]
    Busy,
    /// The shard's lease has another epoch: another node holds it now.
    #[error("shard {0} has another holder")]
    Fenced(i32),
    #[error("a stored value cannot be read: {0}")]
    Corrupt(String),
}

impl Error {
    /// A value that only the database could refuse, and why.
    pub(crate) fn refused(field: &str, why: impl Into<String>) -> Self {
        Self::Refused(carillon_scheduler::FieldError::new(field, why))
    }

    /// Worth another try: the connection was lost, the pool is exhausted, the database stops or starts, others had locks.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Database(error) => {
                is_lost_connection(error) || is_lock_conflict(error) || is_away(error) || is_too_slow(error)
            }
            Self::Busy | Self::Unreachable(_) => true,
            _ => false,
        }
    }

    /// Deadlock, serialization failure or busy file: the same transaction may be repeated at once. A lock time-out is
    /// none: a caller that has waited that long should do something else first.
    pub fn is_lock_conflict(&self) -> bool {
        matches!(self, Self::Database(error) if is_lock_conflict(error))
    }

    /// The database does not take a value as it is: too long, or with a character such as NUL. Another try ends the same way.
    pub fn is_bad_value(&self) -> bool {
        // Class 22 is "data exception"; MySQL's 1366 and 1300 are wrong characters under other codes.
        matches!(self, Self::Database(error) if
            matches!(mysql_number(error), Some(1300 | 1366))
            || (code(error).len() == 5 && code(error).starts_with("22")))
    }

    /// The statement took longer than its kind may take, and the database ended it.
    pub fn is_too_slow(&self) -> bool {
        matches!(self, Self::Database(error) if is_too_slow(error))
    }

    /// The database does not answer, or takes nothing: every write fails.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Database(error) if self.is_transient() && !is_lock_conflict(error) && !is_lock_timeout(error))
    }

    /// What an attempt at a transaction may end with that another attempt can do.
    pub(crate) fn is_conflict(&self) -> bool {
        self.is_lock_conflict() || matches!(self, Self::Busy)
    }

    /// [`Error::Taken`], if this says that the name is, under this key.
    pub(crate) fn or_taken(self, key: UniqueKey, name: &str) -> Self {
        match self {
            Self::Database(error) if key.is_violated(&error) => Self::Taken(format!("{} {name:?}", key.subject())),
            other => other,
        }
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

/// Serialization failure and deadlock (MySQL says 40001 of both), SQLite's busy and locked.
fn is_lock_conflict(error: &DbErr) -> bool {
    matches!(&*code(error), "40001" | "40P01" | "5" | "6" | "261" | "262" | "517")
}

fn is_lock_timeout(error: &DbErr) -> bool {
    mysql_number(error) == Some(1205) || code(error) == "55P03"
}

/// The server is going, coming or full of connections, or a lock was not to be had in time.
fn is_away(error: &DbErr) -> bool {
    if let Some(number) = mysql_number(error) {
        // Too many connections, shut-down, lock wait time-out, interrupted, killed.
        return matches!(number, 1040 | 1053 | 1205 | 1317 | 1927);
    }
    let code = code(error);
    code.len() == 5
        && (code.starts_with("08") || matches!(&*code, "25P03" | "53300" | "55P03" | "57P01" | "57P02" | "57P03"))
}

/// PostgreSQL's statement_timeout, MariaDB's max_statement_time, MySQL's max_execution_time, SQLite's interrupt.
fn is_too_slow(error: &DbErr) -> bool {
    match mysql_number(error) {
        Some(number) => matches!(number, 1969 | 3024),
        None => matches!(&*code(error), "57014" | "9"),
    }
}

fn mysql_number(error: &DbErr) -> Option<u16> {
    use sea_orm::sqlx::mysql::MySqlDatabaseError;
    let sea_orm::sqlx::Error::Database(inner) = sqlx_error(error)? else {
        return None;
    };
    inner.try_downcast_ref::<MySqlDatabaseError>().map(MySqlDatabaseError::number)
}

/// SQLSTATE, or SQLite's extended result code; empty for an error that the database has not reported.
fn code(error: &DbErr) -> Cow<'_, str> {
    match sqlx_error(error) {
        Some(sea_orm::sqlx::Error::Database(inner)) => inner.code().unwrap_or_default(),
        _ => Cow::Borrowed(""),
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
