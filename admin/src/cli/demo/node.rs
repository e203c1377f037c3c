//! `carillon demo`: a node, two executors, a page that an HTTP job calls, and some jobs in one process, to look at.
//!
//! Everything goes the way it goes in earnest: the executors register over HTTP, take their runs and report the results. Only
//! the settings are chosen for you, and the data is gone at the end.

use std::net::TcpListener;
use std::sync::Arc;

use crate::Admin;
use crate::config::Config;
use anyhow::Context as _;
use carillon_accounts::secret::random_secret;
use carillon_accounts::setup::{FIRST_ADMIN, FirstAdmin};
use carillon_scheduler::SystemClock;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::page::{DemoPage, NETWORK};
use super::{jobs, orders, workers};
use crate::cli::arguments::InvalidInput;
use crate::cli::logging;
use crate::cli::serve::{stop_signal, url};
use crate::cli::settings::ServeSettings;

pub async fn run(mut settings: ServeSettings) -> anyhow::Result<()> {
    let temporary = fill_demo_defaults(&mut settings)?;
    let mut config = settings.parse()?.config;
    if config.tls.cert.is_some() || config.public_url.is_some() {
        // Its executors would need the name and the authority of the certificate, or reach the node through a proxy.
        let text = "the demo speaks plain HTTP and has no other address; drop --tls-cert and --public-url";
        return Err(InvalidInput(text.to_owned()).into());
    }
    logging::start(config.log_format, "warn");
    another_port_if_taken(&mut config);
    let admin = Admin::build(config.clone(), Arc::new(SystemClock::new())).await?;
    let page = DemoPage::start().context("the demo's page")?;
    jobs::create(&admin, &page).await?;
    let address = admin.address();
    let workers = workers::build(&config, address).context("the demo's workers")?;
    print!("{}", welcome(&config, &admin, &page, temporary.is_some()));
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
    page.stop().await;
    ended?;
    Ok(worked??)
}

/// Fills in what was not given. Returns the folder that is removed at the end.
fn fill_demo_defaults(settings: &mut ServeSettings) -> anyhow::Result<Option<TempDir>> {
    let mut temporary = None;
    // Where the page of the demo is.
    settings.http_networks.get_or_insert_with(|| NETWORK.to_owned());
    if settings.database.data_dir.is_none() {
        let folder = tempfile::Builder::new().prefix("carillon-demo-").tempdir();
        let folder = folder.context("cannot make a temporary folder; name one with --data-dir")?;
        settings.database.data_dir = Some(folder.path().display().to_string());
        temporary = Some(folder);
    }
    let has_url = settings.database.database_url.is_some() || settings.database.database_url_file.is_some();
    let files = &settings.secret_files;
    for (value, file, is_needed) in [
        (&mut settings.access_token, &files.access_token_file, has_url),
        (&mut settings.admin_password, &files.admin_password_file, true),
        (&mut settings.api_token, &files.api_token_file, true),
    ] {
        if is_needed && value.is_none() && file.is_none() {
            *value = Some(random_secret());
        }
    }
    Ok(temporary)
}

/// Another program on the default port is no reason to fail; on a port that was asked for, it is.
fn another_port_if_taken(config: &mut Config) {
    let usual = Config::new(&config.data_dir, "").listen;
    if config.listen == usual && TcpListener::bind(usual).is_err() {
        config.listen.set_port(0);
    }
}

fn welcome(config: &Config, admin: &Admin, page: &DemoPage, temporary: bool) -> String {
    let secret = |secret: &Option<String>| secret.clone().unwrap_or_default();
    let password = match admin.first_admin {
        FirstAdmin::Exists => "as it was set in this database before".to_owned(),
        _ => secret(&config.admin_password),
    };
    let kept = if temporary { ", removed at the end" } else { "" };
    format!(
        "\nCarillon demo: a node, two executors, {} jobs, one of them a workflow: {}; one more is declared by the executors\n\n  console    {}\n  user       {FIRST_ADMIN}\n  password   {password}\n  \
         API token  {}\n  HTTP page  {}\n  data       {}{kept}\n\nCtrl-C ends it. RUST_LOG=info shows what the node does.\n",
        jobs::count(),
        orders::NAME,
        url(config, admin.address(), ""),
        secret(&config.api_token),
        page.url(),
        config.data_dir.display(),
    )
}
