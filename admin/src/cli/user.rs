//! `carillon user`: accounts of the console from the command line, for lost passwords and for scripts.

use std::io::{self, BufRead as _};

use crate::config::LogFormat;
use carillon_accounts::secret::random_secret;
use carillon_accounts::{password, people};
use carillon_scheduler::{Clock as _, SystemClock};
use carillon_store::{Actor, App, GrantScope, Grants, Role, Store, VisibleApps};
use clap::{Args, Subcommand};

use super::arguments::InvalidInput;
use super::settings::DatabaseSettings;
use super::{database, logging};

/// The settings of the database may stand before and behind the command: see `command_line::command`.
#[derive(Args)]
pub struct UserArgs {
    #[command(flatten)]
    database: DatabaseSettings,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the accounts with their roles
    List,
    /// Make an account and print the random password
    Add(New),
    /// Remove an account with its sessions and tokens
    Remove(Named),
    /// Print a link with which the owner of an account sets a new password and signs in, once, within a day
    Link(Named),
    /// Remove the second factor of an account whose owner has lost it
    RemoveSecondFactor(Named),
    /// Give an account a new random password, print it, and end its sessions and tokens
    Password(Account),
}

#[derive(Args)]
struct Named {
    /// Name of the account
    name: String,
}

#[derive(Args)]
struct New {
    #[command(flatten)]
    account: Account,
    /// viewer, operator, editor or admin
    #[arg(long)]
    role: String,
    /// Name of an app for which the role counts, once for each; all apps if left out
    #[arg(long = "app", value_name = "APP")]
    apps: Vec<String>,
    /// Also the right to read and write the sources of script jobs there, which no role includes
    #[arg(long)]
    scripts: bool,
}

#[derive(Args)]
struct Account {
    /// Name to log in with, 1 to 64 characters
    name: String,
    /// Take the first line of standard input as the password, 10 to 128 characters, and print none
    #[arg(long)]
    password_stdin: bool,
}

pub async fn run(args: UserArgs) -> anyhow::Result<()> {
    logging::start(LogFormat::Text, "warn");
    let store = match args.command {
        Command::List => database::open_read_only(&args.database).await?,
        _ => database::open(&args.database).await?,
    };
    let (by, now) = (Actor::cli(), SystemClock::new().now());
    match args.command {
        Command::List => show(&store).await,
        Command::Add(New { account, role, apps, scripts }) => {
            let grants = grants(&store, &role, &apps).await?;
            let scopes: Vec<GrantScope> = grants.iter().map(|(scope, _)| scope).filter(|_| scripts).collect();
            let grants = grants.with_scripts(scopes);
            let password = account.password()?;
            people::add(&store, &account.name, &password, &grants, now, &by).await.map_err(explain)?;
            account.print(&password);
            Ok(())
        }
        Command::Remove(Named { name }) => {
            let account = people::by_name(&store, &name).await.map_err(explain)?;
            people::remove(&store, account.id, now, &by).await.map_err(explain)?;
            println!("done");
            Ok(())
        }
        Command::Link(Named { name }) => {
            let account = people::by_name(&store, &name).await.map_err(explain)?;
            let link = people::reset_link(&store, account.id, now, &by).await.map_err(explain)?;
            // The address of the console is a setting of the nodes.
            println!("/reset?secret={}", link.secret);
            Ok(())
        }
        Command::RemoveSecondFactor(Named { name }) => {
            let account = people::by_name(&store, &name).await.map_err(explain)?;
            people::remove_second_factor(&store, account.id, now, &by).await.map_err(explain)?;
            println!("done");
            Ok(())
        }
        Command::Password(account) => {
            let password = account.password()?;
            people::set_password(&store, &account.name, &password, now, &by).await.map_err(explain)?;
            account.print(&password);
            Ok(())
        }
    }
}

async fn show(store: &Store) -> anyhow::Result<()> {
    let apps = store.apps().list(&VisibleApps::All).await?;
    for account in store.people().accounts().await? {
        let state = if account.disabled_at.is_some() { "disabled" } else { "enabled" };
        println!("{}\t{state}\t{}", account.name, roles(&account.grants, &apps));
    }
    Ok(())
}

/// `viewer of all apps, editor of billing`
fn roles(grants: &Grants, apps: &[App]) -> String {
    let name = |id: i64| apps.iter().find(|app| app.id == id).map_or_else(|| id.to_string(), |app| app.name.clone());
    let line = |(scope, role): (GrantScope, Role)| match scope.app_id() {
        None => format!("{role} of all apps"),
        Some(id) => format!("{role} of {}", name(id)),
    };
    let scripts = grants.scripts().map(|scope| match scope.app_id() {
        None => "scripts of all apps".to_owned(),
        Some(id) => format!("scripts of {}", name(id)),
    });
    let lines: Vec<String> = grants.iter().map(line).chain(scripts).collect();
    if lines.is_empty() { "no role".to_owned() } else { lines.join(", ") }
}

async fn grants(store: &Store, role: &str, apps: &[String]) -> anyhow::Result<Grants> {
    let role: Role = role.parse().map_err(|why| InvalidInput(format!("--role: {why}")))?;
    if apps.is_empty() {
        return Ok(Grants::for_all(role));
    }
    let mut scopes = vec![];
    for name in apps {
        let found = store.apps().by_name(name).await?;
        let app = found.ok_or_else(|| InvalidInput(format!("--app: there is no app `{name}`")))?;
        scopes.push((GrantScope::App(app.id), role));
    }
    Ok(scopes.into_iter().collect())
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

    fn print(&self, password: &str) {
        println!("{}", if self.password_stdin { "done" } else { password });
    }
}

fn explain(error: password::Error) -> anyhow::Error {
    use carillon_store::Error as E;
    match error {
        password::Error::Refused(complaint) => InvalidInput(complaint).into(),
        password::Error::Store(wrong @ (E::Taken(_) | E::Missing(_) | E::InUse(_))) => {
            InvalidInput(wrong.to_string()).into()
        }
        password::Error::Store(error) => error.into(),
        other => other.into(),
    }
}
