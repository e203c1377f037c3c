//! What the executor sends to the admins: heartbeats and results.

mod announcement;
mod client;
mod credentials;
mod heartbeat;
mod outbox;

pub(crate) use announcement::Announcement;
pub(crate) use client::{AdminClient, Identity, PostError};
pub(crate) use credentials::Credentials;
pub(crate) use heartbeat::Heartbeats;
pub(crate) use outbox::{Outbox, OutboxMessage};
