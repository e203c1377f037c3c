//! The results of items, read page by page.

use std::collections::VecDeque;

use carillon_protocol::{ItemQuery, MappedItem, SUCCESS};
use serde::de::DeserializeOwned;

use super::client::{ItemClient, Request};
use crate::context::JobContext;
use crate::handler::JobError;

/// An item with its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemOutcome(MappedItem);

/// Reads the items of a run with their results, in the order of their numbers. One page is in memory at a time.
pub struct ItemOutcomes {
    run: JobContext,
    client: ItemClient,
    page: VecDeque<MappedItem>,
    /// The last item that was read.
    last: i32,
}

impl ItemOutcome {
    /// The number of the item, from 0.
    pub fn item(&self) -> i32 {
        self.0.item
    }

    /// The item.
    pub fn params(&self) -> &str {
        &self.0.params
    }

    /// The text that the item's function returned, empty if none; cut at 4 KiB.
    ///
    /// # Errors
    /// Why the item has failed.
    pub fn result(&self) -> Result<&str, JobError> {
        let text = self.0.msg.as_deref().unwrap_or_default();
        if self.0.code == SUCCESS { Ok(text) } else { Err(JobError::new(text)) }
    }

    /// Reads the result as JSON.
    ///
    /// # Errors
    /// The item has failed, or its result has another form.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, JobError> {
        let problem = |error| JobError::new(format!("the result of item {} cannot be read: {error}", self.item()));
        serde_json::from_str(self.result()?).map_err(problem)
    }
}

impl ItemOutcomes {
    pub(super) fn new(run: JobContext, client: ItemClient) -> Self {
        Self { run, client, page: VecDeque::new(), last: -1 }
    }

    /// The next item; `None` after the last one.
    ///
    /// # Errors
    /// The admin refuses the request, or the run is cancelled.
    pub async fn next(&mut self) -> Result<Option<ItemOutcome>, JobError> {
        if self.page.is_empty() {
            self.page = self.read_page().await?.into();
        }
        let Some(item) = self.page.pop_front() else {
            return Ok(None);
        };
        if item.item <= self.last {
            return Err(JobError::new(format!("the admin sent item {} after item {}", item.item, self.last)));
        }
        self.last = item.item;
        Ok(Some(ItemOutcome(item)))
    }

    async fn read_page(&self) -> Result<Vec<MappedItem>, JobError> {
        let query = ItemQuery { log_id: self.run.run_id(), after: self.last };
        let payload = self.client.post(Request::Read, &query, self.run.cancelled()).await?;
        let problem = |error| JobError::new(format!("the admin's list of results cannot be read: {error}"));
        // A text in JSON, whose content is JSON.
        let list: String = serde_json::from_str(payload.as_deref().unwrap_or("null")).map_err(problem)?;
        serde_json::from_str(&list).map_err(problem)
    }
}
