//! The state that all handlers share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use actix_web::web;
use carillon_accounts::openid::Provider;
use carillon_alerts::Alerts;
use carillon_declared::Declarations;
use carillon_engine::Engine;
use carillon_engine::manage::limits::rate::RateLimit;
use carillon_scheduler::Clock;
use carillon_store::{Actor, Store};

use crate::config::Config;
use crate::web::executor_api::refusals::RefusedExecutors;
use crate::web::limits::body_memory::BodyMemory;
use crate::web::limits::token_look_ups::{CredentialLookUps, TokenLookUps};

/// Shared by all handlers.
pub struct State {
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub alerts: Arc<Alerts>,
    /// Of the programs of executors.
    pub declarations: Arc<Declarations>,
    pub clock: Arc<dyn Clock>,
    pub config: Config,
    /// The OpenID provider of the settings.
    pub openid: Option<Provider>,
    /// The memory of all request bodies.
    pub body_memory: Arc<BodyMemory>,
    /// The requests of each API token, and of the sessions of each account.
    pub requests: RateLimit<Requester>,
    /// Of all tokens and sessions of an account together.
    pub requests_of_account: RateLimit<i64>,
    /// The registrations with each executor token, by its id; None: the token of all apps.
    pub registrations: RateLimit<Option<i64>>,
    /// Executors that were refused because of their token.
    pub refused_executors: RefusedExecutors,
    /// How often the database is asked for a token that this node does not know.
    pub token_look_ups: TokenLookUps,
    /// The same for personal tokens and sessions.
    pub credential_look_ups: CredentialLookUps,
    /// False while starting and as soon as a stop begins.
    pub ready: Arc<AtomicBool>,
}

impl State {
    /// Counts a request of an account or an API token.
    ///
    /// # Errors
    /// It has made too many: after how many seconds it may make the next one.
    pub fn count_request(&self, actor: &Actor) -> Result<(), u64> {
        let now = self.clock.monotonic();
        let of_account = |id| self.requests_of_account.take(id, now);
        let counted = actor.account_id.map_or(Ok(()), of_account).and(self.requests.take(Requester::of(actor), now));
        counted.inspect_err(|_| self.engine.cx.metrics.rate_limited.inc())
    }
}

/// Whose requests are counted together. A token that asks too often leaves its owner the console, where it can be revoked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Requester {
    /// The API token of the settings.
    SettingsToken,
    /// Personal tokens of one name.
    Token { account_id: i64, name: String },
    /// All sessions of an account.
    Sessions { account_id: i64 },
}

impl Requester {
    fn of(actor: &Actor) -> Self {
        match (actor.account_id, &actor.token) {
            (None, _) => Self::SettingsToken,
            (Some(account_id), Some(name)) => Self::Token { account_id, name: name.clone() },
            (Some(account_id), None) => Self::Sessions { account_id },
        }
    }
}

/// The state as the server's threads share it.
pub type Shared = web::Data<State>;
