//! The state that all handlers share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use actix_web::web;
use carillon_accounts::openid::Provider;
use carillon_alerts::Alerts;
use carillon_engine::Engine;
use carillon_scheduler::Clock;
use carillon_store::Store;

use crate::config::Config;
use crate::web::executor_api::wrong_tokens::WrongTokens;
use crate::web::limits::body_memory::BodyMemory;
use crate::web::limits::rate::RateLimit;

/// Shared by all handlers.
pub struct State {
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub alerts: Arc<Alerts>,
    pub clock: Arc<dyn Clock>,
    pub config: Config,
    /// The OpenID provider of the settings.
    pub openid: Option<Provider>,
    /// The memory of all request bodies.
    pub body_memory: Arc<BodyMemory>,
    /// The requests of each account and API token, by its name.
    pub requests: RateLimit<String>,
    /// The registrations with each executor token, by its id; None: the token of all apps.
    pub registrations: RateLimit<Option<i64>>,
    /// Executors that were refused because of their token.
    pub wrong_tokens: WrongTokens,
    /// False while starting and as soon as a stop begins.
    pub ready: Arc<AtomicBool>,
}

impl State {
    /// Counts a request of an account or an API token.
    ///
    /// # Errors
    /// It has made too many: after how many seconds it may make the next one.
    pub fn count_request(&self, caller: &str) -> Result<(), u64> {
        self.requests
            .take(caller.to_owned(), self.clock.monotonic())
            .inspect_err(|_| self.engine.cx.metrics.rate_limited.inc())
    }
}

/// The state as the server's threads share it.
pub type Shared = web::Data<State>;
