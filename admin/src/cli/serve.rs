//! `carillon serve`: one node, until SIGTERM or Ctrl-C.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::Admin;
use crate::config::Config;
use crate::server;
use carillon_accounts::setup::FirstAdmin;
use carillon_scheduler::SystemClock;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::diagnosis::health::reachable;
use super::logging;
use super::settings::ServeSettings;

pub async fn run(settings: ServeSettings) -> anyhow::Result<()> {
    let parsed = settings.parse()?;
    logging::start(parsed.config.log_format, "info");
    if let Some(file) = &parsed.token_file {
        tracing::info!(file.path = %file.display(), "executors present the access token that is in this file");
    }
    if parsed.config.api_token.is_none() {
        tracing::info!("no API token is set (--api-token, CARILLON_API_TOKEN): personal tokens alone open the API");
    }
    let database = parsed.config.database.to_string();
    let config = parsed.config.clone();
    let admin = Admin::build(parsed.config, Arc::new(SystemClock::new()));
    let admin = admin.await.map_err(|error| {
        let on = if matches!(error, server::Error::Store(_)) { format!(" on {database}") } else { String::new() };
        anyhow::Error::from(error).context(format!("cannot start{on}"))
    })?;
    if let FirstAdmin::Awaited(setup) = &admin.first_admin {
        // Not logged: who may read logs is not who may become the administrator.
        println!(
            "Nobody can log in yet. Within half an hour, set up the first administrator:\n  address  {}\n  secret   {}",
            url(&config, admin.address(), "setup"),
            setup.secret
        );
    }
    admin.run(stop_signal()?).await?;
    Ok(())
}

/// The address of the console as a person types it: the public one, or one for this machine.
pub fn url(config: &Config, listen: SocketAddr, path: &str) -> String {
    if let Some(public) = &config.public_url {
        return format!("{}/{path}", public.address());
    }
    let scheme = if config.is_https() { "https" } else { "http" };
    format!("{scheme}://{}/{path}", reachable(listen))
}

/// Cancelled by the first SIGTERM or Ctrl-C. The second one ends the process at once: that is safe, what is open then
/// is taken over by another node or by the next start.
pub fn stop_signal() -> std::io::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = CancellationToken::new();
    let asked = stop.clone();
    tokio::spawn(async move {
        one_of(&mut terminate, &mut interrupt).await;
        asked.cancel();
        one_of(&mut terminate, &mut interrupt).await;
        eprintln!("carillon: second signal, ending now");
        std::process::exit(1);
    });
    Ok(stop)
}

async fn one_of(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
