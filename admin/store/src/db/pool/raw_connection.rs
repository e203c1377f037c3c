//! One connection to one of the three databases.

use std::time::Duration;

use sea_orm::sqlx::sqlite::SqliteConnection;
use sea_orm::sqlx::{self, AssertSqlSafe, Connection as _, Executor as _, MySqlConnection, PgConnection};
use sea_orm::{ExecResult, QueryResult, Statement};
use sea_query_sqlx::SqlxValues;

use crate::db::pool::target::{Deadline, Target};

pub enum RawConnection {
    Sqlite(SqliteConnection, Deadline),
    Postgres(PgConnection),
    MySql(MySqlConnection),
}

macro_rules! each_driver {
    ($raw:expr, $connection:ident => $work:expr) => {
        match $raw {
            RawConnection::Sqlite($connection, _) => $work,
            RawConnection::Postgres($connection) => $work,
            RawConnection::MySql($connection) => $work,
        }
    };
}

/// Prepared, and cached by the connection. Takes the statement: a list of many rows is not copied.
macro_rules! query {
    ($statement:expr) => {
        sqlx::query_with(
            AssertSqlSafe($statement.sql),
            SqlxValues($statement.values.unwrap_or(sea_orm::Values(vec![]))),
        )
    };
}

/// SQLite looks at the deadline after this number of steps of its machine, some tenths of a millisecond.
const STEPS: i32 = 5_000;

impl RawConnection {
    pub async fn open(target: &Target, session: &[String]) -> sqlx::Result<Self> {
        let mut raw = match target {
            Target::Sqlite(options) => {
                let mut connection = SqliteConnection::connect_with(options).await?;
                let deadline = Deadline::none();
                let asked = deadline.clone();
                connection.lock_handle().await?.set_progress_handler(STEPS, move || !asked.has_passed());
                Self::Sqlite(connection, deadline)
            }
            Target::Postgres(options) => Self::Postgres(PgConnection::connect_with(options).await?),
            Target::MySql(options) => Self::MySql(MySqlConnection::connect_with(options).await?),
        };
        for setting in session {
            raw.simple(setting).await?;
        }
        Ok(raw)
    }

    pub async fn execute(&mut self, statement: Statement) -> sqlx::Result<ExecResult> {
        each_driver!(self, connection => Ok(query!(statement).execute(connection).await?.into()))
    }

    pub async fn all(&mut self, statement: Statement) -> sqlx::Result<Vec<QueryResult>> {
        each_driver!(self, connection => {
            let rows = query!(statement).fetch_all(connection).await?;
            Ok(rows.into_iter().map(Into::into).collect())
        })
    }

    pub async fn one(&mut self, statement: Statement) -> sqlx::Result<Option<QueryResult>> {
        each_driver!(self, connection => {
            Ok(query!(statement).fetch_optional(connection).await?.map(Into::into))
        })
    }

    /// Not prepared: BEGIN, COMMIT, settings of the session.
    pub async fn simple(&mut self, text: &str) -> sqlx::Result<ExecResult> {
        let text = AssertSqlSafe(text.to_owned());
        each_driver!(self, connection => Ok(connection.execute(text).await?.into()))
    }

    pub async fn ping(&mut self) -> sqlx::Result<()> {
        each_driver!(self, connection => connection.ping().await)
    }

    /// SQLite only: from then on the statement under way is interrupted; `None` takes the limit away.
    pub fn interrupt_after(&self, limit: Option<Duration>) {
        if let Self::Sqlite(_, deadline) = self {
            deadline.set(limit);
        }
    }

    /// Signs off at the server. Only for a connection that is between two statements.
    pub async fn close(self) {
        // The connection is gone either way.
        let _ = each_driver!(self, connection => connection.close().await);
    }
}
