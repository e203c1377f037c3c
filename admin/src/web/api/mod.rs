//! The management API: JSON under `/api/v1`, bearer tokens, no cookies. The executor protocol, which shares the prefix `/api`, is
//! `web::executor_api`.
//!
//! Every path is in `routes`, with its handler and what the OpenAPI document says about it. An answer that is no success is
//! `{"error":{"code","message","field"?}}`.

mod alerts;
mod answer;
mod apps;
mod calendars;
mod endpoint;
mod error;
mod extract;
mod finish;
mod forecast;
mod jobs;
mod mount;
mod openapi;
mod pauses;
mod records;
mod reports;
mod retention;
mod routes;
mod runs;
pub mod view;

pub use error::Error;
pub use mount::{all, configure, document};
pub use openapi::ROOT;
