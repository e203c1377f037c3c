//! `carillon migrate`: the schema alone, for those who migrate by hand and serve with `--no-migrate`.

use crate::config::{Error, LogFormat};
use carillon_store::Store;

use crate::cli::logging;
use crate::cli::settings::DatabaseSettings;

pub async fn run(settings: DatabaseSettings) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let database = settings.database().map_err(Error::from)?;
    let store = Store::open(&(&database).into()).await?;
    store.migrate().await?;
    println!("{database} has the schema of carillon {}", env!("CARGO_PKG_VERSION"));
    Ok(())
}
