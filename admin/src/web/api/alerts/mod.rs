//! `/alerts`, `/alert-rules`, `/alert-channels` and `/alert-deliveries`

mod channels;
mod list;
mod routes;
mod rules;

pub use routes::routes;
