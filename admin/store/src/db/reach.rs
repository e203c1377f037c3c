//! The first connection to a database server: why there is none, in words that name the host and never the password.

use std::io;

use sea_orm::sqlx::{self, Error as Sqlx};

use crate::db::pool::broken::refusal;
use crate::db::pool::connection_pool::Pool;
use crate::db::pool::target::Target;
use crate::error::{Error, Result};

/// Opens the first connection of the pool.
pub async fn first(pool: &Pool, target: &Target, wait: std::time::Duration) -> Result<()> {
    let Err(error) = pool.open_first().await else {
        return Ok(());
    };
    let Some(place) = ServerAddress::of(target) else {
        return Err(Error::Database(sea_orm::DbErr::Conn(sea_orm::RuntimeErr::SqlxError(error.into()))));
    };
    Err(Error::Unreachable(place.explain(&error, wait)))
}

struct ServerAddress {
    host: String,
    user: String,
    database: String,
}

impl ServerAddress {
    fn of(target: &Target) -> Option<Self> {
        let name = |name: Option<&str>| name.unwrap_or_default().to_owned();
        match target {
            Target::Sqlite(_) => None,
            Target::Postgres(options) => Some(Self {
                host: format!("{}:{}", options.get_host(), options.get_port()),
                user: options.get_username().to_owned(),
                database: name(options.get_database()),
            }),
            Target::MySql(options) => Some(Self {
                host: format!("{}:{}", options.get_host(), options.get_port()),
                user: options.get_username().to_owned(),
                database: name(options.get_database()),
            }),
        }
    }

    fn explain(&self, error: &sqlx::Error, wait: std::time::Duration) -> String {
        let Self { host, user, database } = self;
        match error {
            Sqlx::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                return format!(
                    "connection refused by {host}: no database listens there; start it, or correct --database-url"
                );
            }
            Sqlx::Io(error) => return format!("no connection to {host}: {error}"),
            Sqlx::PoolTimedOut => {
                return format!(
                    "{host} has not answered within {wait:?}: is the address right, and does a firewall let it through?"
                );
            }
            _ => {}
        }
        match refusal(error).as_deref() {
            Some("28P01" | "28000" | "1045") => {
                format!("{host} refuses the user `{user}`: wrong name or password ({error})")
            }
            Some("3D000" | "1049") => {
                format!("{host} has no database `{database}`; create it, or correct --database-url")
            }
            Some("42501" | "1044") => {
                format!("{host} does not let the user `{user}` use the database `{database}` ({error})")
            }
            _ => format!("no connection to {host}: {error}"),
        }
    }
}
