//! Calls to executors, the limits of each address, and the directory of the registered ones. The only files that name reqwest.

pub(crate) mod address;
pub mod app_names;
pub mod client;
mod client_tls;
mod connections;
pub(crate) mod directory;
pub(crate) mod http;
pub(crate) mod outcome;
mod registrations;
pub(crate) mod request;
pub(crate) mod scripts;
pub(crate) mod secrets;
mod signed_requests;
pub(crate) mod tokens;

pub use client::{ExecutorClient, RunHeaders};
pub use client_tls::{ClientTls, ClientTlsPart};
pub use connections::Limits;
pub use http::{CallbackUrls, HttpSender, SentOnce};
pub use outcome::{Outcome, plausible_moment};
pub use tokens::{Credential, ExecutorTokens};
