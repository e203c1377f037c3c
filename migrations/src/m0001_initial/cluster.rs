//! Settings, nodes, leases of shards, and blocks of ids.

pub const TABLES: &[&str] = &[
    "CREATE TABLE setting (name VARCHAR(64) NOT NULL PRIMARY KEY, value VARCHAR(255) NOT NULL){table}",
    // A change of children locks this row: two changes at once could close a cycle.
    "INSERT INTO setting (name, value) SELECT 'children', '' WHERE NOT EXISTS (SELECT 1 FROM setting WHERE name = 'children')",
    "CREATE TABLE node (id VARCHAR(64) NOT NULL PRIMARY KEY, address VARCHAR(255) NOT NULL, version VARCHAR(32) NOT NULL, \
     seen_at BIGINT NOT NULL){table}",
    "CREATE TABLE shard_lease (shard INTEGER NOT NULL PRIMARY KEY, epoch BIGINT NOT NULL, owner VARCHAR(64) NOT NULL, \
     expires_at BIGINT NOT NULL){table}",
    // Each node takes ids in blocks: no clock, no auto-increment, known before the insert.
    "CREATE TABLE id_block (name VARCHAR(32) NOT NULL PRIMARY KEY, next BIGINT NOT NULL){table}",
];
