//! `carillon health`: asks the node of these settings whether it is ready; for containers and units that have no shell.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use reqwest::header::HOST;

use crate::config::Config;

use crate::cli::settings::ServeSettings;

/// Limit of the whole request.
const TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Args)]
pub struct HealthArgs {
    /// Ask only whether the process answers, not whether it is ready
    #[arg(long)]
    live: bool,

    #[command(flatten)]
    settings: ServeSettings,
}

/// # Errors
/// The settings are wrong, or the node does not answer, or its answer is not 200.
pub async fn run(args: HealthArgs) -> anyhow::Result<()> {
    let config = args.settings.config()?;
    // The certificate is not checked: the address is the node's own listener, and the request holds no secret.
    let client =
        reqwest::Client::builder().timeout(TIMEOUT).no_proxy().tls_danger_accept_invalid_certs(true).build()?;
    let url = url(&config, if args.live { "healthz" } else { "readyz" });
    let mut request = client.get(&url);
    if let Some(public) = &config.public_url {
        // The node answers 421 to other names.
        request = request.header(HOST, public.authority());
    }
    let answer = request.send().await.with_context(|| format!("{url} does not answer"))?;
    let status = answer.status();
    let text = answer.text().await.unwrap_or_default();
    let text = text.trim_end();
    if !status.is_success() {
        bail!("{url} answers {status}: {text}");
    }
    println!("{text}");
    Ok(())
}

/// The path at the node's own listener.
fn url(config: &Config, path: &str) -> String {
    let scheme = if config.tls.cert.is_some() { "https" } else { "http" };
    format!("{scheme}://{}/{path}", reachable(config.listen))
}

/// An address of this machine that reaches a listener.
pub fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}
