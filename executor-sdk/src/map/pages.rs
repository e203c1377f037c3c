//! The items of a run on their way to the admin, page by page.

use carillon_protocol::{MAX_ITEM_BYTES, MAX_MAP_ITEMS, MAX_PAGE_BYTES, MAX_PAGE_ITEMS, MapPage};

use super::client::{ItemClient, Request};
use crate::context::JobContext;
use crate::handler::JobError;

/// Bytes of a page without its items, at most.
const ENVELOPE: usize = 200;

/// The page that is being filled. A full one is sent before the next item is taken, so the memory for items has a bound.
pub(super) struct Pages {
    client: ItemClient,
    page: MapPage,
    /// Bytes of the page's items as JSON.
    bytes: usize,
    /// Items of earlier pages.
    sent: usize,
    /// Whether the page may be at an admin already, because a request was cut off: it must not change any more.
    is_fixed: bool,
}

impl Pages {
    pub(super) fn new(client: ItemClient, log_id: i64, chunk: Option<i32>, reduce: bool) -> Self {
        let page = MapPage { log_id, chunk, reduce, ..MapPage::default() };
        Self { client, page, bytes: 0, sent: 0, is_fixed: false }
    }

    /// Adds an item, and sends the page before if it is full.
    ///
    /// # Errors
    /// The item is too long, there are too many, the admin refuses the page, or the run is cancelled before an admin has it.
    pub(super) async fn push(&mut self, item: String, run: &JobContext) -> Result<(), JobError> {
        let bytes = json_len(&item)?;
        let number = self.sent + self.page.items.len();
        if bytes > MAX_ITEM_BYTES {
            return Err(JobError::new(format!(
                "item {number} has {bytes} bytes as JSON; at most {MAX_ITEM_BYTES} are taken"
            )));
        }
        if number >= MAX_MAP_ITEMS {
            return Err(JobError::new(format!("too many items: a run has at most {MAX_MAP_ITEMS}")));
        }
        let is_full = self.page.items.len() == MAX_PAGE_ITEMS || self.bytes + bytes + 1 > MAX_PAGE_BYTES - ENVELOPE;
        if is_full || self.is_fixed {
            self.send(run).await?;
        }
        self.page.items.push(item);
        self.bytes += bytes + 1;
        Ok(())
    }

    /// Sends what is left.
    ///
    /// # Errors
    /// The admin refuses the page, or the run is cancelled before an admin has it.
    pub(super) async fn send(&mut self, run: &JobContext) -> Result<(), JobError> {
        if self.page.items.is_empty() {
            return Ok(());
        }
        self.is_fixed = true;
        self.client.post(Request::Page, &self.page, run.cancelled()).await?;
        self.sent += self.page.items.len();
        self.page.page += 1;
        self.page.items.clear();
        (self.bytes, self.is_fixed) = (0, false);
        Ok(())
    }
}

fn json_len(text: &str) -> Result<usize, JobError> {
    Ok(serde_json::to_string(text)?.len())
}
