//! For the fault suite: while the flag `disk_full` is set, a SQLite file may not grow by a page.

use std::time::Duration;

use sea_orm::ConnectionTrait as _;

use crate::db::failpoint;
use crate::db::pool::connection_pool::Pool;

const LOOK: Duration = Duration::from_millis(50);
/// What SQLite allows by itself.
const NO_LIMIT: u32 = 4_294_967_294;

/// As long as the process lives. `write` has one connection, so what is said to it counts for every write.
pub async fn watch(write: Pool) {
    let mut was_full = false;
    loop {
        let full = failpoint::flag("disk_full");
        // Said again and again while it is full: the connection may be another one by now.
        if full || was_full {
            // A limit below the size of now is taken as the size of now.
            let pages = if full { 1 } else { NO_LIMIT };
            let set = format!("PRAGMA max_page_count = {pages}");
            if let Err(error) = write.execute_unprepared(&set).await {
                tracing::warn!(%error, "the size of the file could not be limited");
            }
        }
        was_full = full;
        tokio::time::sleep(LOOK).await;
    }
}
