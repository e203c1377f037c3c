//! The state that all handlers share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use actix_web::web;
use carillon_engine::Engine;
use carillon_scheduler::Clock;
use carillon_store::Store;

use crate::config::Config;
use crate::web::executor_api::wrong_tokens::WrongTokens;
use crate::web::limits::body_memory::BodyMemory;

/// Shared by all handlers.
pub struct State {
    pub store: Arc<Store>,
    pub engine: Arc<Engine>,
    pub clock: Arc<dyn Clock>,
    pub config: Config,
    /// The memory of all request bodies.
    pub body_memory: Arc<BodyMemory>,
    /// Executors that were refused because of their token.
    pub wrong_tokens: WrongTokens,
    /// False while starting and as soon as a stop begins.
    pub ready: Arc<AtomicBool>,
}

/// The state as the server's threads share it.
pub type Shared = web::Data<State>;
