//! The settings of one node, already parsed, and the rules between them.
//!
//! [`Config`] is plain data: the command line builds it from flags and environment (`cli/values.rs`), a test or a benchmark
//! builds it with [`Config::new`]. Invariant: what [`Config::validate`] accepts, the rest of the program need not check again. A
//! problem names the flag, the environment variable and what would be right.

mod access_token;
mod database;
mod executor_tls;
mod networks;
mod outgoing;
mod problem;
mod public_url;
mod rules;
pub mod secret_key;
mod settings;
mod tls;

pub use access_token::AccessToken;
pub use carillon_engine::lease::redis::url::{RedisForm, RedisUrl};
pub use carillon_engine::{LostRule, Options};
pub use database::Database;
pub use networks::Networks;
pub use problem::{Error, Problem};
pub use public_url::PublicUrl;
pub use settings::{Config, LogFormat};
pub use tls::TlsSettings;
