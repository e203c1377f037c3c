//! Map: runs that hand in items, which are delivered in further runs of the same job.

pub const STATEMENTS: &[&[&str]] = &[&[
    // Beside a run that has handed in items. bytes: of all items in JSON. chunk: items of a delivery at most; NULL: chosen at the first one.
    // released: items below this number have a delivery. in_flight: deliveries that have not ended. failed: items of ended ones.
    "CREATE TABLE map_run (run_id BIGINT NOT NULL PRIMARY KEY, items INTEGER NOT NULL, bytes BIGINT NOT NULL, chunk INTEGER, \
     reduces BOOLEAN NOT NULL, released INTEGER NOT NULL DEFAULT 0, deliveries INTEGER NOT NULL DEFAULT 0, \
     in_flight INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, reduce_run_id BIGINT){table}",
    // The pages that were stored: one that is sent again changes nothing.
    "CREATE TABLE map_page (run_id BIGINT NOT NULL, page INTEGER NOT NULL, PRIMARY KEY (run_id, page)){clustered}",
    // The items of a delivery are those from first_item on. ended: all its attempts have, and its items have their outcomes.
    "CREATE TABLE map_delivery (run_id BIGINT NOT NULL, delivery INTEGER NOT NULL, first_item INTEGER NOT NULL, items INTEGER NOT NULL, \
     ended BOOLEAN NOT NULL DEFAULT FALSE, PRIMARY KEY (run_id, delivery)){clustered}",
    // size: bytes of the item in the parameters of a delivery. result: what it gave, or why it failed.
    "CREATE TABLE map_item (run_id BIGINT NOT NULL, item INTEGER NOT NULL, state SMALLINT NOT NULL, size INTEGER NOT NULL, \
     params {long} NOT NULL, result TEXT, PRIMARY KEY (run_id, item)){clustered}",
]];
