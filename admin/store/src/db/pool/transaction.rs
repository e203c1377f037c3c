//! One transaction on a connection of its own.

use std::time::Duration;

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, Statement};
use tokio::sync::Mutex;

use crate::db::pool::pooled_connection::PooledConnection;

/// A connection whose ROLLBACK takes longer is closed, which rolls back as well.
const ROLL_BACK: Duration = Duration::from_secs(2);

/// Rolled back when it is dropped.
pub struct Transaction {
    backend: DbBackend,
    /// `None` once it has ended. The lock is never waited for: one task works on a transaction.
    connection: Mutex<Option<PooledConnection>>,
}

impl Transaction {
    /// On SQLite BEGIN IMMEDIATE: a deferred transaction that upgrades fails at once beside another writer.
    pub(crate) async fn begin(mut connection: PooledConnection) -> Result<Self, DbErr> {
        let backend = connection.backend();
        let text = match backend {
            DbBackend::Sqlite => "BEGIN IMMEDIATE",
            _ => "BEGIN",
        };
        connection.run(async |raw| raw.simple(text).await).await?;
        Ok(Self { backend, connection: Mutex::new(Some(connection)) })
    }

    /// After an error the outcome is unknown: the answer may be what was lost.
    pub async fn commit(self) -> Result<(), DbErr> {
        self.end("COMMIT").await
    }

    pub async fn rollback(self) -> Result<(), DbErr> {
        self.end("ROLLBACK").await
    }

    async fn end(mut self, text: &str) -> Result<(), DbErr> {
        let Some(mut connection) = self.connection.get_mut().take() else {
            return Err(ended());
        };
        let done = connection.run(async |raw| raw.simple(text).await).await;
        if done.is_err() {
            // The connection may still be in its transaction, or never have been in one: a full disk makes SQLite end it by itself.
            connection.discard();
        }
        done.map(|_| ())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let Some(mut connection) = self.connection.get_mut().take() else {
            return;
        };
        if connection.is_in_doubt() {
            return;
        }
        connection.set_limit(ROLL_BACK);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(async move {
                    let done = connection.run(async |raw| raw.simple("ROLLBACK").await).await;
                    if done.is_err() {
                        connection.discard();
                    }
                });
            }
            Err(_) => connection.discard(),
        }
    }
}

fn ended() -> DbErr {
    DbErr::Custom("the transaction has ended".into())
}

#[async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        self.backend
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        let mut connection = self.connection.lock().await;
        let connection = connection.as_mut().ok_or_else(ended)?;
        connection.run(async |raw| raw.execute(statement).await).await
    }

    async fn execute_unprepared(&self, text: &str) -> Result<ExecResult, DbErr> {
        let mut connection = self.connection.lock().await;
        let connection = connection.as_mut().ok_or_else(ended)?;
        connection.run(async |raw| raw.simple(text).await).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        let mut connection = self.connection.lock().await;
        let connection = connection.as_mut().ok_or_else(ended)?;
        connection.run(async |raw| raw.one(statement).await).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        let mut connection = self.connection.lock().await;
        let connection = connection.as_mut().ok_or_else(ended)?;
        connection.run(async |raw| raw.all(statement).await).await
    }
}
