//! Results of items on their way to the admin.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use carillon_protocol::{
    FAILURE, ItemResult, ItemResults, MAX_ITEM_RESULT_BYTES, MAX_PAGE_BYTES, MAX_PAGE_ITEMS, SUCCESS,
};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep, timeout_at};

use super::client::{ItemClient, Request};
use crate::context::JobContext;
use crate::handler::{JobError, Outcome};

/// How long a first result waits for others, and for how many.
const LINGER: Duration = Duration::from_secs(1);
const ENOUGH: usize = 100;
/// How long results are sent of a delivery that is cancelled.
const CANCEL_LIMIT: Duration = Duration::from_secs(2);
/// Bytes of a report without its results, at most.
const ENVELOPE: usize = 100;
const CUT_MARK: &str = "...";

/// Sends the results of one delivery's items.
pub(super) struct Report<'a> {
    client: &'a ItemClient,
    run: &'a JobContext,
    /// With their bytes as JSON.
    waiting: VecDeque<(ItemResult, usize)>,
}

impl<'a> Report<'a> {
    pub(super) fn new(client: &'a ItemClient, run: &'a JobContext) -> Self {
        Self { client, run, waiting: VecDeque::new() }
    }

    /// Sends the results that come, until the sender is gone and an admin has all of them.
    ///
    /// # Errors
    /// The admin refuses results, or the run is cancelled and no admin takes them within 2 s.
    pub(super) async fn run(mut self, mut results: UnboundedReceiver<ItemResult>) -> Result<(), JobError> {
        let mut is_open = true;
        while is_open {
            is_open = self.collect(&mut results).await?;
            self.send().await?;
        }
        Ok(())
    }

    /// Waits until there are results to be sent; `false`: no more will come.
    async fn collect(&mut self, results: &mut UnboundedReceiver<ItemResult>) -> Result<bool, JobError> {
        let Some(first) = results.recv().await else { return Ok(false) };
        self.push(first)?;
        let due = Instant::now() + LINGER;
        while self.waiting.len() < ENOUGH {
            match timeout_at(due, results.recv()).await {
                Ok(Some(result)) => self.push(result)?,
                Ok(None) => return Ok(false),
                Err(_) => break,
            }
        }
        while let Ok(result) = results.try_recv() {
            self.push(result)?;
        }
        Ok(true)
    }

    fn push(&mut self, result: ItemResult) -> Result<(), JobError> {
        let bytes = serde_json::to_string(&result)?.len() + 1;
        self.waiting.push_back((result, bytes));
        Ok(())
    }

    async fn send(&mut self) -> Result<(), JobError> {
        let run = self.run;
        let mut limit = pin!(async {
            run.cancelled().await;
            sleep(CANCEL_LIMIT).await;
        });
        while !self.waiting.is_empty() {
            let results = ItemResults { log_id: run.run_id(), results: self.next_list() };
            self.client.post(Request::Results, &results, &mut limit).await?;
        }
        Ok(())
    }

    /// Takes the next list, bounded by number and size.
    fn next_list(&mut self) -> Vec<ItemResult> {
        let (mut list, mut bytes) = (Vec::new(), ENVELOPE);
        while let Some((result, more)) = self.waiting.pop_front_if(|(_, more)| bytes + *more <= MAX_PAGE_BYTES) {
            bytes += more;
            list.push(result);
            if list.len() == MAX_PAGE_ITEMS {
                break;
            }
        }
        list
    }
}

/// The result of an item as it is reported.
pub(super) fn result_of(item: i32, ended: Result<Outcome, JobError>) -> ItemResult {
    match ended {
        Ok(outcome) => ItemResult { item, code: SUCCESS, msg: outcome.0.map(cut) },
        Err(error) => ItemResult { item, code: FAILURE, msg: Some(cut(error.message().to_owned())) },
    }
}

/// Cuts the text of a result at the last whole character and marks the cut.
fn cut(mut text: String) -> String {
    if text.len() > MAX_ITEM_RESULT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_ITEM_RESULT_BYTES - CUT_MARK.len()));
        text.push_str(CUT_MARK);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_between_characters_with_a_mark() {
        assert_eq!(cut("x".repeat(4096)), "x".repeat(4096));
        let long = cut("ß".repeat(2049));
        assert_eq!((long.len(), long.ends_with("ß...")), (4095, true));
    }
}
