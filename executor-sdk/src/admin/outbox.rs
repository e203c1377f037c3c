//! Delivers results to an admin, in lists, and repeats each list until an admin accepts it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::CallbackItem;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};

use super::client::{AdminClient, CALLBACK_PATH};
use super::outbox_message::OutboxMessage;
use crate::journal::Journal;
use crate::run::SeenRuns;

/// Results in one request. The admin stores a list in one transaction: the longer the list, the less a result costs.
const MAX_ITEMS: usize = 500;
/// Bytes of result texts in one request, well below the admin's limit of 8 MiB.
const MAX_BYTES: usize = 1 << 20;
/// How long a first result waits for others to share its request.
const LINGER: Duration = Duration::from_millis(4);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The results that no admin has accepted yet.
pub(crate) struct Outbox {
    pub(crate) admins: Arc<AdminClient>,
    pub(crate) seen_runs: Arc<SeenRuns>,
    pub(crate) journal: Journal,
    pub(crate) messages: mpsc::UnboundedReceiver<OutboxMessage>,
    /// Notified when an admin can be reached again.
    pub(crate) reachable: Arc<Notify>,
}

impl Outbox {
    /// Delivers until all senders of messages are gone.
    pub(crate) async fn run(mut self, unreported: Vec<CallbackItem>) {
        let mut queue = VecDeque::from(unreported);
        let mut flushes = Vec::new();
        let mut pause = FIRST_PAUSE;
        loop {
            if queue.is_empty() {
                flushes.clear();
                match self.messages.recv().await {
                    Some(OutboxMessage::Results(items)) => queue.extend(items),
                    // If the queue stays empty, the sender is dropped at the top of the loop, which is the notice.
                    Some(OutboxMessage::Flush(flush)) => flushes.push(flush),
                    None => return,
                }
                sleep(LINGER).await;
            }
            while let Ok(message) = self.messages.try_recv() {
                match message {
                    OutboxMessage::Results(items) => queue.extend(items),
                    OutboxMessage::Flush(flush) => flushes.push(flush),
                }
            }
            let list = next_list(&mut queue);
            if list.is_empty() {
                continue;
            }
            match self.send(&list).await {
                Ok(()) => pause = FIRST_PAUSE,
                Err(reason) => {
                    let count = list.len() + queue.len();
                    tracing::warn!(%reason, result.count = count, retry_ms = pause.as_millis() as u64, "results not delivered; retrying later");
                    list.into_iter().rev().for_each(|item| queue.push_front(item));
                    self.pause(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    async fn send(&self, list: &[CallbackItem]) -> Result<(), String> {
        let body = serde_json::to_vec(list).map_err(|error| error.to_string())?;
        let posted = self.admins.post(CALLBACK_PATH, body).await;
        posted.map_err(|reason| reason.to_string())?;
        let ids: Vec<i64> = list.iter().map(|item| item.log_id).collect();
        self.seen_runs.acknowledge(ids.iter().copied());
        self.journal.acknowledge(&ids);
        Ok(())
    }

    /// Waits for the pause ± 20 %, so that executors do not retry in step, or until an admin can be reached again.
    async fn pause(&self, pause: Duration) {
        let pause = pause.mul_f64(rand::random_range(0.8..1.2));
        let _ = timeout(pause, self.reachable.notified()).await;
    }
}

/// Takes the next list from the queue, bounded by number and size.
fn next_list(queue: &mut VecDeque<CallbackItem>) -> Vec<CallbackItem> {
    let (mut list, mut bytes) = (Vec::new(), 0);
    while let Some(item) = queue.front() {
        bytes += item.message.as_ref().map_or(0, String::len);
        if list.len() == MAX_ITEMS || (bytes > MAX_BYTES && !list.is_empty()) {
            break;
        }
        list.extend(queue.pop_front());
    }
    list
}

#[cfg(test)]
mod tests {
    use super::{MAX_ITEMS, next_list};
    use carillon_protocol::CallbackItem;
    use std::collections::VecDeque;

    #[test]
    fn lists_are_bounded_by_number_and_size() {
        let mut short: VecDeque<_> = (0..600).map(|_| CallbackItem::default()).collect();
        assert_eq!((next_list(&mut short).len(), short.len()), (MAX_ITEMS, 100));

        let long = CallbackItem { message: Some("x".repeat(700_000)), ..CallbackItem::default() };
        let mut queue = VecDeque::from(vec![long; 2]);
        assert_eq!((next_list(&mut queue).len(), queue.len()), (1, 1));
    }
}
