//! `carillon user`: accounts of the console from the command line, for who has lost a password and for scripts.

use std::io::{self, BufRead as _};
use std::sync::Arc;

use carillon_accounts::secret::random_secret;
use carillon_accounts::{password, setup};
use carillon_admin::config::{Database, Error, LogFormat};
use carillon_admin::store::{self, Store};
use carillon_scheduler::{Clock as _, SystemClock};
use clap::{Args, Subcommand};

use super::logging;
use super::settings::DatabaseSettings;

#[derive(Subcommand)]
pub enum Command {
    /// Make an administrator and print the random password
    Add(Account),
    /// Give an account a new random password, print it, and end its sessions
    Password(Account),
}

#[derive(Args)]
pub struct Account {
    /// Name to log in with, 1 to 64 characters
    name: String,
    /// Take the first line of standard input as the password, 10 to 128 characters, and print none
    #[arg(long)]
    password_stdin: bool,
    #[command(flatten)]
    database: DatabaseSettings,
}

/// A name, a password or a folder that cannot be taken.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

pub async fn run(command: Command) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let (Command::Add(account) | Command::Password(account)) = &command;
    let database = account.database.database().map_err(Error::from)?;
    let store = open(&database).await?;
    let password = account.password()?;
    let now = SystemClock::new().now();
    let done = match &command {
        Command::Add(_) => setup::add_user(&store, &account.name, &password, now).await.map(drop),
        Command::Password(_) => setup::set_password(&store, &account.name, &password, now).await,
    };
    done.map_err(explain)?;
    if account.password_stdin {
        println!("done");
    } else {
        println!("{password}");
    }
    Ok(())
}

/// Makes no database where there is none: the folder would be a misspelt one.
pub(super) async fn open(database: &Database) -> anyhow::Result<Arc<Store>> {
    must_exist(database)?;
    let store = Store::open(&database.into()).await?;
    store.check_schema().await?;
    Ok(store)
}

/// The same for who only reads: beside a node that runs on the file, too.
pub(super) async fn open_to_look(database: &Database) -> anyhow::Result<Arc<Store>> {
    must_exist(database)?;
    let store = Store::open_to_look(&database.into()).await?;
    store.check_schema().await?;
    Ok(store)
}

fn must_exist(database: &Database) -> Result<(), Refused> {
    if let Database::Sqlite { path } = database
        && !path.exists()
    {
        let right = "name its folder with --data-dir, or make it with `carillon migrate`";
        return Err(Refused(format!("there is no database {}; {right}", path.display())));
    }
    Ok(())
}

impl Account {
    fn password(&self) -> anyhow::Result<String> {
        if !self.password_stdin {
            return Ok(random_secret());
        }
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line)?;
        Ok(line.trim_end_matches(['\n', '\r']).to_owned())
    }
}

fn explain(error: password::Error) -> anyhow::Error {
    match error {
        password::Error::Refused(complaint) => Refused(complaint).into(),
        password::Error::Store(taken @ (store::Error::Taken(_) | store::Error::Missing(_))) => {
            Refused(taken.to_string()).into()
        }
        password::Error::Store(error) => error.into(),
        other => other.into(),
    }
}
