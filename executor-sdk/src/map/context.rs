//! What the functions of a map job know about their run.

use std::ops::Deref;
use std::sync::Arc;

use carillon_protocol::{DeliveredItem, Reduction};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;

use super::client::ItemClient;
use super::pages::Pages;
use super::results::ItemOutcomes;
use crate::context::JobContext;
use crate::handler::JobError;

/// The run that hands in items: a [`JobContext`] with [`map`](Self::map); cheap to clone.
#[derive(Clone)]
pub struct MapContext {
    job: JobContext,
    pages: Arc<Mutex<Pages>>,
}

/// One item that is to be executed: a [`JobContext`] of its delivery, with the item; cheap to clone.
///
/// Its log is the delivery's. [`cancelled`](JobContext::cancelled) completes when the delivery is cancelled.
#[derive(Clone)]
pub struct ItemContext {
    job: JobContext,
    map: i64,
    item: Arc<DeliveredItem>,
}

/// The run that reads the results of items: a [`JobContext`] with [`outcomes`](Self::outcomes); cheap to clone.
#[derive(Clone)]
pub struct ReduceContext {
    job: JobContext,
    reduction: Reduction,
    client: ItemClient,
}

impl MapContext {
    pub(super) fn new(job: JobContext, pages: Pages) -> Self {
        Self { job, pages: Arc::new(Mutex::new(pages)) }
    }

    /// Hands in items, which are numbered from 0 in this order. May be called several times. Items go to the admin in pages while they are
    /// taken from the iterator, the last page when the job's function has ended with success. A run has at most 100,000 items, each with
    /// at most 16 KiB as JSON.
    ///
    /// While no admin can be reached, the page is sent again until the run is cancelled.
    ///
    /// # Errors
    /// An item is too long, there are too many, the admin refuses them, or the run is cancelled. The items that were taken from the
    /// iterator then count only if the function ends with success.
    pub fn map<I>(&self, items: I) -> impl Future<Output = Result<(), JobError>> + Send
    where
        I: IntoIterator<Item: Into<String>, IntoIter: Send>,
    {
        self.add(items.into_iter().map(|item| Ok(item.into())))
    }

    /// The same for values that are sent as JSON; [`ItemContext::parse`] reads them.
    ///
    /// # Errors
    /// As [`map`](Self::map), or a value that has no form in JSON.
    pub fn map_values<I>(&self, values: I) -> impl Future<Output = Result<(), JobError>> + Send
    where
        I: IntoIterator<Item: Serialize, IntoIter: Send>,
    {
        self.add(values.into_iter().map(|value| Ok(serde_json::to_string(&value)?)))
    }

    async fn add(&self, items: impl Iterator<Item = Result<String, JobError>> + Send) -> Result<(), JobError> {
        let mut pages = self.pages.lock().await;
        for item in items {
            pages.push(item?, &self.job).await?;
        }
        Ok(())
    }

    /// Sends the last page.
    pub(super) async fn send_rest(&self) -> Result<(), JobError> {
        self.pages.lock().await.send(&self.job).await
    }
}

impl ItemContext {
    /// `map`: the run that has handed in the item.
    pub(crate) fn new(job: JobContext, map: i64, item: DeliveredItem) -> Self {
        Self { job, map, item: Arc::new(item) }
    }

    /// The number of the item, from 0.
    pub fn item(&self) -> i32 {
        self.item.item
    }

    /// The item.
    pub fn params(&self) -> &str {
        &self.item.params
    }

    /// Reads the item as JSON.
    ///
    /// # Errors
    /// The item has another form.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, JobError> {
        serde_json::from_str(self.params()).map_err(|error| JobError::new(format!("the item cannot be read: {error}")))
    }

    /// The same for all attempts to execute this item: the key with which the job ensures that its work is done once. It is
    /// `map:<run that handed in the items>:<item>`; an attempt of the whole job is another run, whose items have other keys.
    pub fn key(&self) -> String {
        format!("map:{}:{}", self.map, self.item())
    }
}

impl ReduceContext {
    pub(super) fn new(job: JobContext, reduction: Reduction, client: ItemClient) -> Self {
        Self { job, reduction, client }
    }

    /// Number of items.
    pub fn items(&self) -> i32 {
        self.reduction.items
    }

    /// Number of items that have failed.
    pub fn failed(&self) -> i32 {
        self.reduction.failed
    }

    /// Reads the items with their results, from the first one.
    pub fn outcomes(&self) -> ItemOutcomes {
        ItemOutcomes::new(self.job.clone(), self.client.clone())
    }
}

impl Deref for MapContext {
    type Target = JobContext;

    fn deref(&self) -> &JobContext {
        &self.job
    }
}

impl Deref for ItemContext {
    type Target = JobContext;

    fn deref(&self) -> &JobContext {
        &self.job
    }
}

impl Deref for ReduceContext {
    type Target = JobContext;

    fn deref(&self) -> &JobContext {
        &self.job
    }
}
