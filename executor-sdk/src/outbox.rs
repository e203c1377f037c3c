//! Results on their way to an admin: in lists, again and again, until one admin says that it has them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::CallbackItem;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::admin_client::AdminClient;
use crate::journal::Journal;
use crate::ledger::Ledger;

/// Results in one request. The admin stores a list in one transaction, so longer lists cost less.
const MAX_ITEMS: usize = 500;
/// Text in one request, well below the 8 MiB that the admin takes.
const MAX_BYTES: usize = 1 << 20;
/// Results that end almost together travel together.
const LINGER: Duration = Duration::from_millis(4);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// What is put into the outbox.
pub(crate) enum Mail {
    Results(Vec<CallbackItem>),
    /// Dropped when nothing is left to deliver.
    Flush(oneshot::Sender<()>),
}

pub(crate) struct Outbox {
    pub(crate) admins: Arc<AdminClient>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) journal: Journal,
    pub(crate) mail: mpsc::UnboundedReceiver<Mail>,
    /// Told when an admin can be reached again.
    pub(crate) reachable: Arc<Notify>,
}

impl Outbox {
    /// Sends until nobody can give it results any more.
    pub(crate) async fn work(mut self, unreported: Vec<CallbackItem>) {
        let mut queue = VecDeque::from(unreported);
        let mut flushes = Vec::new();
        let mut pause = FIRST_PAUSE;
        loop {
            if queue.is_empty() {
                flushes.clear();
                match self.mail.recv().await {
                    Some(Mail::Results(items)) => queue.extend(items),
                    // Dropped at the top of the loop, if nothing came before it: that is the answer.
                    Some(Mail::Flush(flush)) => flushes.push(flush),
                    None => return,
                }
                sleep(LINGER).await;
            }
            while let Ok(mail) = self.mail.try_recv() {
                match mail {
                    Mail::Results(items) => queue.extend(items),
                    Mail::Flush(flush) => flushes.push(flush),
                }
            }
            let list = take(&mut queue);
            if list.is_empty() {
                continue;
            }
            match self.send(&list).await {
                Ok(()) => pause = FIRST_PAUSE,
                Err(reason) => {
                    let count = list.len() + queue.len();
                    tracing::warn!(%reason, count, ?pause, "results not delivered, sent again later");
                    list.into_iter().rev().for_each(|item| queue.push_front(item));
                    self.pause(pause).await;
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    async fn send(&self, list: &[CallbackItem]) -> Result<(), String> {
        let body = serde_json::to_vec(list).map_err(|error| error.to_string())?;
        let posted = self.admins.post("/api/callback", body).await;
        posted.map_err(|reason| reason.to_string())?;
        let ids: Vec<i64> = list.iter().map(|item| item.log_id).collect();
        self.ledger.acknowledged(ids.iter().copied());
        self.journal.acknowledged(&ids);
        Ok(())
    }

    /// Waits, with 20 % of chance so that executors do not all come back at once, or until an admin is there again.
    async fn pause(&self, pause: Duration) {
        let pause = pause.mul_f64(rand::random_range(0.8..1.2));
        let _ = timeout(pause, self.reachable.notified()).await;
    }
}

/// Takes the next list from the queue.
fn take(queue: &mut VecDeque<CallbackItem>) -> Vec<CallbackItem> {
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
    use super::{MAX_ITEMS, take};
    use carillon_protocol::CallbackItem;
    use std::collections::VecDeque;

    #[test]
    fn lists_are_bounded_by_number_and_size() {
        let mut short: VecDeque<_> = (0..600).map(|_| CallbackItem::default()).collect();
        assert_eq!((take(&mut short).len(), short.len()), (MAX_ITEMS, 100));

        let long = CallbackItem { message: Some("x".repeat(700_000)), ..CallbackItem::default() };
        let mut queue = VecDeque::from(vec![long; 2]);
        assert_eq!((take(&mut queue).len(), queue.len()), (1, 1));
    }
}
