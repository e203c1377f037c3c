//! `/alerts`, `/alert-rules`, `/alert-channels` and `/alert-deliveries`

mod channels;
mod list;
mod routes;
mod rules;
mod view;

pub use routes::routes;
