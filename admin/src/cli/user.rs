//! `carillon user`: accounts of the console from the command line, for lost passwords and for scripts.

use std::io::{self, BufRead as _};

use carillon_accounts::secret::random_secret;
use carillon_accounts::{password, setup};
use carillon_admin::config::LogFormat;
use carillon_scheduler::{Clock as _, SystemClock};
use clap::{Args, Subcommand};

use super::invalid_input::InvalidInput;
use super::settings::DatabaseSettings;
use super::{database, logging};

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

pub async fn run(command: Command) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let (Command::Add(account) | Command::Password(account)) = &command;
    let store = database::open(&account.database).await?;
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
        password::Error::Refused(complaint) => InvalidInput(complaint).into(),
        password::Error::Store(taken @ (carillon_store::Error::Taken(_) | carillon_store::Error::Missing(_))) => {
            InvalidInput(taken.to_string()).into()
        }
        password::Error::Store(error) => error.into(),
        other => other.into(),
    }
}
