//! `carillon demo`: a node, two executors and some jobs in one process, to look at.
//!
//! Everything goes the way it goes in earnest: the executors register over HTTP, take their runs and report the results. Only
//! the settings are chosen for you, and the data is gone at the end.

mod jobs;
mod workers;

use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::{FIRST_ADMIN, FirstAdmin};
use carillon_admin::Admin;
use carillon_admin::config::Config;
use carillon_scheduler::SystemClock;
use tokio_util::sync::CancellationToken;

use super::logging;
use super::serve::{stop_signal, url};
use super::settings::ServeSettings;

pub async fn run(mut settings: ServeSettings) -> anyhow::Result<()> {
    let temporary = make_up(&mut settings)?;
    let mut config = settings.settle()?.config;
    logging::start(config.log_format, "warn");
    another_port_if_taken(&mut config);
    let admin = Admin::build(config.clone(), Arc::new(SystemClock::new())).await?;
    jobs::create(&admin.engine).await?;
    let address = admin.address();
    let workers = workers::build(&config, address).context("the demo's workers")?;
    print!("{}", welcome(&config, &admin, temporary.is_some()));
    let stop = stop_signal()?;
    let leave = CancellationToken::new();
    let workers = tokio::spawn({
        let (stop, leave) = (stop.clone(), leave.clone());
        async move {
            let worked = workers::run(workers, &leave).await;
            stop.cancel();
            worked
        }
    });
    let (left, all_left) = tokio::sync::oneshot::channel();
    let watch = async {
        let worked = workers.await;
        let _ = left.send(());
        worked
    };
    // The executors leave when nothing is sent any more and the node still takes their last results.
    let executors_stop = async {
        leave.cancel();
        let _ = all_left.await;
    };
    let node = async {
        let ended = admin.run_with_executors(stop, executors_stop).await;
        leave.cancel();
        ended
    };
    let (ended, worked) = tokio::join!(node, watch);
    ended?;
    Ok(worked??)
}

/// Fills in what was not given. Gives the folder that is to be removed at the end.
fn make_up(settings: &mut ServeSettings) -> anyhow::Result<Option<Temporary>> {
    let mut temporary = None;
    if settings.database.data_dir.is_none() {
        let folder = Temporary::make()?;
        settings.database.data_dir = Some(folder.0.display().to_string());
        temporary = Some(folder);
    }
    if settings.database.database_url.is_some() && settings.access_token.is_none() {
        settings.access_token = Some(random_secret());
    }
    settings.admin_password.get_or_insert_with(random_secret);
    settings.api_token.get_or_insert_with(random_secret);
    Ok(temporary)
}

/// A second demo, or whatever else is on the usual port, is no reason to fail. A port that was asked for is one.
fn another_port_if_taken(config: &mut Config) {
    let usual = Config::new(&config.data_dir, "").listen;
    if config.listen == usual && TcpListener::bind(usual).is_err() {
        config.listen.set_port(0);
    }
}

/// A folder of the demo alone, removed with this value.
struct Temporary(PathBuf);

impl Temporary {
    fn make() -> anyhow::Result<Self> {
        let random: String = random_secret().chars().filter(char::is_ascii_alphanumeric).take(12).collect();
        let folder = std::env::temp_dir().join(format!("carillon-demo-{random}"));
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(&folder)
            .with_context(|| format!("cannot make {}; name a folder with --data-dir", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            eprintln!("carillon: {} is left behind: {error}", self.0.display());
        }
    }
}

fn welcome(config: &Config, admin: &Admin, temporary: bool) -> String {
    let secret = |secret: &Option<String>| secret.clone().unwrap_or_default();
    let password = match admin.first_admin {
        FirstAdmin::Exists => "as it was set in this database before".to_owned(),
        _ => secret(&config.admin_password),
    };
    let kept = if temporary { ", removed at the end" } else { "" };
    format!(
        "\nCarillon demo: a node, two executors, {} jobs\n\n  console    {}\n  user       {FIRST_ADMIN}\n  password   {password}\n  \
         API token  {}\n  data       {}{kept}\n\nCtrl-C ends it. RUST_LOG=info shows what the node does.\n",
        jobs::count(),
        url(admin.address(), ""),
        secret(&config.api_token),
        config.data_dir.display(),
    )
}
