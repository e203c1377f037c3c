//! The database of a command that does not run a node, but may run beside one.

pub mod migrate;

use std::sync::Arc;

use crate::config::{Database, Error};
use carillon_scheduler::{Clock as _, Millis, SystemClock};
use carillon_store::{Result, Store};

use crate::cli::arguments::InvalidInput;
use crate::cli::settings::DatabaseSettings;

/// Opens a database that exists: a missing one would be one in a misspelt folder.
pub async fn open(settings: &DatabaseSettings) -> anyhow::Result<Arc<Store>> {
    let database = existing(settings)?;
    let store = Store::open_beside(&(&database).into()).await?;
    store.check_schema().await?;
    Ok(store)
}

/// The same for a command that only reads.
pub async fn open_read_only(settings: &DatabaseSettings) -> anyhow::Result<Arc<Store>> {
    let database = existing(settings)?;
    let store = Store::open_read_only(&(&database).into()).await?;
    store.check_schema().await?;
    Ok(store)
}

/// The time by which leases end: that of the database, if it has a clock.
pub async fn now(store: &Store) -> Result<Millis> {
    Ok(store.leases().database_now().await?.unwrap_or_else(|| SystemClock::new().now()))
}

fn existing(settings: &DatabaseSettings) -> anyhow::Result<Database> {
    let database = settings.database().map_err(Error::from)?;
    if let Database::Sqlite { path } = &database
        && !path.exists()
    {
        let right = "name its folder with --data-dir, or make it with `carillon migrate`";
        return Err(InvalidInput(format!("there is no database {}; {right}", path.display())).into());
    }
    Ok(database)
}
