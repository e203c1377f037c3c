//! Delivers results to an admin, in lists, and repeats each result until an admin accepts it.
//!
//! An admin answers a list when all of it is stored. So results of a list that was not accepted are sent again in smaller lists and
//! behind the others: one that cannot be stored is alone soon, and holds up no other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use carillon_protocol::CallbackItem;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::client::{AdminClient, CALLBACK_PATH};
use crate::journal::Journal;
use crate::run::SeenRuns;

/// Results in one request. The admin stores a list in one transaction: the longer the list, the less a result costs.
const MAX_ITEMS: usize = 500;
/// Bytes of result texts in one request, well below the admin's limit of 32 MiB.
const MAX_BYTES: usize = 1 << 20;
/// How long a first result waits for others to share its request.
const LINGER: Duration = Duration::from_millis(4);
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A message to the outbox.
pub(crate) enum OutboxMessage {
    /// Results to deliver.
    Results(Vec<CallbackItem>),
    /// Asks for a notice once all results are delivered: the outbox drops the sender then.
    Flush(oneshot::Sender<()>),
}

/// The results that no admin has accepted yet.
pub(crate) struct Outbox {
    pub(crate) admins: Arc<AdminClient>,
    pub(crate) seen_runs: Arc<SeenRuns>,
    pub(crate) journal: Journal,
    pub(crate) messages: mpsc::UnboundedReceiver<OutboxMessage>,
    /// Whether an admin accepts the heartbeats.
    pub(crate) registered: watch::Receiver<bool>,
    /// Notified when an admin can be reached again.
    pub(crate) reachable: Arc<Notify>,
}

/// Results that wait together for their next request.
struct Waiting {
    items: VecDeque<CallbackItem>,
    /// Length of the next list.
    most: usize,
    /// The pause after the next failure.
    pause: Duration,
    /// When the next list may be sent.
    due: Instant,
}

struct Queue {
    /// Those that were sent in no list yet.
    fresh: Waiting,
    /// Those of lists that no admin has accepted.
    refused: Waiting,
}

impl Outbox {
    /// Delivers until all senders of messages are gone.
    pub(crate) async fn run(mut self, unreported: Vec<CallbackItem>) {
        let mut queue = Queue::new(unreported);
        let mut flushes = Vec::new();
        loop {
            if queue.is_empty() {
                flushes.clear();
                // If the queue stays empty, the sender of a flush is dropped at the top of the loop, which is the notice.
                match self.messages.recv().await {
                    Some(message) => queue.take(message, &mut flushes),
                    None => return,
                }
                sleep(LINGER).await;
            }
            while let Ok(message) = self.messages.try_recv() {
                queue.take(message, &mut flushes);
            }
            if queue.is_empty() {
                continue;
            }
            let Some((list, is_fresh)) = queue.next_list(Instant::now()) else {
                self.wait(&mut queue, &mut flushes).await;
                continue;
            };
            match self.send(&list).await {
                Ok(()) => queue.accepted(is_fresh),
                Err(reason) => {
                    let longest = if *self.registered.borrow() { FIRST_PAUSE } else { LONGEST_PAUSE };
                    let pause = queue.refused(list, is_fresh, longest);
                    let (count, retry_ms) = (queue.len(), pause.as_millis() as u64);
                    tracing::warn!(%reason, result.count = count, retry_ms, "results not delivered; retrying later");
                }
            }
        }
    }

    /// Waits until a list may be sent, a message comes, or an admin can be reached again.
    async fn wait(&mut self, queue: &mut Queue, flushes: &mut Vec<oneshot::Sender<()>>) {
        tokio::select! {
            () = sleep_until(queue.due()) => {}
            () = self.reachable.notified() => queue.hurry(),
            Some(message) = self.messages.recv() => {
                queue.take(message, flushes);
                sleep(LINGER).await;
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
}

impl Queue {
    fn new(unreported: Vec<CallbackItem>) -> Self {
        Self { fresh: Waiting::new(unreported), refused: Waiting::new(vec![]) }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.fresh.items.len() + self.refused.items.len()
    }

    fn take(&mut self, message: OutboxMessage, flushes: &mut Vec<oneshot::Sender<()>>) {
        match message {
            OutboxMessage::Results(items) => self.fresh.items.extend(items),
            OutboxMessage::Flush(flush) => flushes.push(flush),
        }
    }

    /// The next list that may be sent now, and whether it is of fresh results.
    fn next_list(&mut self, now: Instant) -> Option<(Vec<CallbackItem>, bool)> {
        let is_ready = |waiting: &Waiting| !waiting.items.is_empty() && waiting.due <= now;
        if is_ready(&self.fresh) {
            return Some((self.fresh.next_list(), true));
        }
        is_ready(&self.refused).then(|| (self.refused.next_list(), false))
    }

    /// When the next list may be sent, if the queue is not empty.
    fn due(&self) -> Instant {
        match (self.fresh.items.is_empty(), self.refused.items.is_empty()) {
            (false, false) => self.fresh.due.min(self.refused.due),
            (false, true) => self.fresh.due,
            (true, _) => self.refused.due,
        }
    }

    /// An admin has accepted a list. Those that were refused are tried again if they may have been refused with all others.
    fn accepted(&mut self, is_fresh: bool) {
        if !is_fresh {
            self.refused.most = (self.refused.most * 2).min(MAX_ITEMS);
        }
        if !is_fresh || self.fresh.pause > FIRST_PAUSE {
            self.refused.retry_at_once();
        }
        self.fresh.retry_at_once();
    }

    /// No admin has accepted a list: its results wait behind the others. `longest`: the pause of fresh results. Answers the
    /// pause.
    fn refused(&mut self, list: Vec<CallbackItem>, is_fresh: bool, longest: Duration) -> Duration {
        let half = (list.len() / 2).max(1);
        let is_first = self.refused.items.is_empty();
        self.refused.items.extend(list);
        if !is_fresh {
            self.refused.most = half;
            return self.refused.wait(LONGEST_PAUSE);
        }
        if is_first {
            (self.refused.most, self.refused.pause) = (half, FIRST_PAUSE);
            self.refused.wait(LONGEST_PAUSE);
        }
        self.fresh.wait(longest)
    }

    /// An admin can be reached again.
    fn hurry(&mut self) {
        self.fresh.retry_at_once();
        self.refused.retry_at_once();
    }
}

impl Waiting {
    fn new(items: Vec<CallbackItem>) -> Self {
        Self { items: VecDeque::from(items), most: MAX_ITEMS, pause: FIRST_PAUSE, due: Instant::now() }
    }

    /// Takes the next list, bounded by number and size.
    fn next_list(&mut self) -> Vec<CallbackItem> {
        let (mut list, mut bytes) = (Vec::new(), 0);
        while let Some(item) = self.items.front() {
            bytes += item.message.as_ref().map_or(0, String::len);
            if list.len() == self.most || (bytes > MAX_BYTES && !list.is_empty()) {
                break;
            }
            list.extend(self.items.pop_front());
        }
        list
    }

    fn retry_at_once(&mut self) {
        (self.pause, self.due) = (FIRST_PAUSE, Instant::now());
    }

    /// Waits for the pause ± 20 %, so that executors do not retry in step. The next one is twice as long. Answers the pause.
    fn wait(&mut self, longest: Duration) -> Duration {
        let pause = self.pause.min(longest).mul_f64(rand::random_range(0.8..1.2));
        self.due = Instant::now() + pause;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(ids: std::ops::Range<i64>) -> Vec<CallbackItem> {
        ids.map(|log_id| CallbackItem { log_id, ..CallbackItem::default() }).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn lists_are_bounded_by_number_and_size() {
        let mut short = Waiting::new(items(0..600));
        assert_eq!((short.next_list().len(), short.items.len()), (MAX_ITEMS, 100));

        let long = CallbackItem { message: Some("x".repeat(700_000)), ..CallbackItem::default() };
        let mut queue = Waiting::new(vec![long; 2]);
        assert_eq!((queue.next_list().len(), queue.items.len()), (1, 1));
    }

    // covers: G4
    #[tokio::test(start_paused = true)]
    async fn a_result_that_no_admin_takes_is_alone_soon_and_delays_no_other() {
        let mut queue = Queue::new(items(0..2000));
        let (mut delivered, started) = (0, Instant::now());
        while delivered < 1999 {
            match queue.next_list(Instant::now()) {
                Some((list, is_fresh)) if list.iter().any(|item| item.log_id == 7) => {
                    queue.refused(list, is_fresh, FIRST_PAUSE);
                }
                Some((list, is_fresh)) => {
                    delivered += list.len();
                    queue.accepted(is_fresh);
                }
                None => sleep_until(queue.due()).await,
            }
        }
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
        for _ in 0..10 {
            sleep_until(queue.due()).await;
            let (list, is_fresh) = queue.next_list(Instant::now()).unwrap();
            assert_eq!((list[0].log_id, is_fresh), (7, false));
            queue.refused(list, is_fresh, FIRST_PAUSE);
        }
        assert!(queue.due() > Instant::now() + Duration::from_secs(40), "its pauses grow");
        queue.take(OutboxMessage::Results(items(5000..5001)), &mut vec![]);
        let (list, is_fresh) = queue.next_list(Instant::now()).unwrap();
        assert_eq!((list[0].log_id, is_fresh), (5000, true), "another one does not wait for it");
    }

    #[tokio::test(start_paused = true)]
    async fn while_no_admin_can_be_reached_the_pauses_grow_and_end_with_the_first_answer() {
        let mut queue = Queue::new(items(0..1));
        for id in 1..30 {
            sleep_until(queue.due()).await;
            let (list, is_fresh) = queue.next_list(Instant::now()).unwrap();
            queue.refused(list, is_fresh, LONGEST_PAUSE);
            queue.take(OutboxMessage::Results(items(id..id + 1)), &mut vec![]);
        }
        assert_eq!((queue.fresh.pause, queue.refused.pause), (LONGEST_PAUSE, LONGEST_PAUSE));
        queue.hurry();
        let mut lists = 0;
        while let Some((_, is_fresh)) = queue.next_list(Instant::now()) {
            queue.accepted(is_fresh);
            lists += 1;
        }
        assert!(queue.is_empty() && lists <= 7, "{lists} lists");
    }
}
