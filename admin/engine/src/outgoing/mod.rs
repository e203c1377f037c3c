//! Connections to addresses that were entered or registered by others: executors, webhooks, mail servers.
//!
//! An address is parsed by the parser that sends, its name is resolved once for each connection, and the connection goes to
//! an address that was checked. Nothing else in the engine opens a connection to such an address.

pub mod address;
pub(crate) mod connector;
mod http_clients;
pub mod network_policy;
mod resolver;

pub use connector::Connector;
pub use http_clients::HttpClients;
pub use network_policy::{NetworkPolicy, NetworkRules, Purpose};
