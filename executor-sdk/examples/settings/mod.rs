//! Shared by the examples: settings from the environment, and the signal to stop.

use std::env;

use carillon_executor::{Executor, ExecutorBuilder};

/// An executor of the admin that `CARILLON_ADMIN` and `CARILLON_ACCESS_TOKEN` name.
pub fn from_environment() -> Result<ExecutorBuilder, String> {
    tracing_subscriber::fmt().with_env_filter("info").init();
    let admin = env::var("CARILLON_ADMIN").unwrap_or("http://127.0.0.1:8080".to_owned());
    let token = env::var("CARILLON_ACCESS_TOKEN").map_err(|_| {
        "CARILLON_ACCESS_TOKEN is not set: it must be the admin's access token; an admin on SQLite keeps it in \
         <data-dir>/access-token"
    })?;
    Ok(Executor::builder().admin(admin).token(token.trim()))
}

/// Completes at Ctrl-C or SIGTERM.
pub async fn stop_signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = interrupt.await;
}
