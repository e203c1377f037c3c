//! What the outbox receives.

use carillon_protocol::CallbackItem;
use tokio::sync::oneshot;

/// A message to the outbox.
pub(crate) enum OutboxMessage {
    /// Results to deliver.
    Results(Vec<CallbackItem>),
    /// Asks for a notice once all results are delivered: the outbox drops the sender then.
    Flush(oneshot::Sender<()>),
}
