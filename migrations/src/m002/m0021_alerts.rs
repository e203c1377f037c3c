//! Alerts: rules, channels, what is open, and the messages that wait to be delivered. Alarms and misfires get a mark that says that
//! no rule has looked at them yet: it is their place in the outbox, written in the transaction of the event.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::addition;
use crate::dialect::execute_all;

#[derive(DeriveMigrationName)]
pub struct Migration;

const COLUMNS: &[(&str, &str, &str)] = &[("alarm", "unrouted_at", "BIGINT"), ("misfire", "unrouted_at", "BIGINT")];

const TABLES: &[&str] = &[
    // settings: JSON without secrets; sealed: JSON with the secrets, encrypted.
    "CREATE TABLE IF NOT EXISTS alert_channel (id {id}, name VARCHAR(64) NOT NULL, kind VARCHAR(16) NOT NULL, settings {long} NOT NULL, \
     sealed {long}, revision BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL){table}",
    // app_id NULL: the rule is for all apps.
    "CREATE TABLE IF NOT EXISTS alert_rule (id {id}, name VARCHAR(64) NOT NULL, app_id BIGINT, definition {long} NOT NULL, \
     enabled BOOLEAN NOT NULL, revision BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL){table}",
    // open_key is there while the alert is not resolved: a group has one such alert. due_at is the earliest of the three before it.
    "CREATE TABLE IF NOT EXISTS alert (id {id}, rule_id BIGINT NOT NULL, group_key VARCHAR(64) NOT NULL, open_key VARCHAR(96), app_id BIGINT, \
     state SMALLINT NOT NULL, kind VARCHAR(32) NOT NULL, message {long} NOT NULL, events BIGINT NOT NULL, told BIGINT NOT NULL, \
     opened_at BIGINT NOT NULL, last_at BIGINT NOT NULL, told_at BIGINT, notify_at BIGINT, repeat_at BIGINT, escalate_at BIGINT, \
     due_at BIGINT, escalated_at BIGINT, acknowledged_at BIGINT, acknowledged_by VARCHAR(64), note VARCHAR(500), resolved_at BIGINT){table}",
    // What an alert is about: each job, executor or condition of its group.
    "CREATE TABLE IF NOT EXISTS alert_item (alert_id BIGINT NOT NULL, subject VARCHAR(255) NOT NULL, kind VARCHAR(32) NOT NULL, \
     job_id BIGINT, run_id BIGINT, message {long} NOT NULL, events BIGINT NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL, \
     resolved_at BIGINT, PRIMARY KEY (alert_id, subject)){clustered}",
    // next_at NULL: it is finished. A delivery that is being sent has its next_at ahead by the time that a try may take.
    "CREATE TABLE IF NOT EXISTS alert_delivery (id {id}, alert_id BIGINT, channel_id BIGINT NOT NULL, kind VARCHAR(16) NOT NULL, \
     message {long} NOT NULL, state SMALLINT NOT NULL, attempts INTEGER NOT NULL, created_at BIGINT NOT NULL, next_at BIGINT, \
     finished_at BIGINT, answer {long}){table}",
];

const INDEXES: &[(&str, &str, &str)] = &[
    ("alert", "alert_due", "(due_at, id)"),
    ("alert", "alert_last", "(last_at, id)"),
    ("alert", "alert_of_rule", "(rule_id)"),
    ("alert_delivery", "delivery_next", "(next_at, id)"),
    ("alert_delivery", "delivery_alert", "(alert_id, id)"),
    ("alert_delivery", "delivery_channel", "(channel_id, id)"),
    ("alert_delivery", "delivery_created", "(created_at)"),
];
const UNIQUE: &[(&str, &str, &str)] = &[
    ("alert_channel", "alert_channel_name", "(name)"),
    ("alert_rule", "alert_rule_name", "(name)"),
    ("alert", "alert_open", "(open_key)"),
];
/// Few rows have the mark, and only for a second.
const PARTIAL: &[(&str, &str, &str)] = &[
    ("alarm", "alarm_unrouted", "(unrouted_at, id) WHERE unrouted_at > 0"),
    ("misfire", "misfire_unrouted", "(unrouted_at) WHERE unrouted_at > 0"),
];
/// MySQL has no partial indexes.
const WHOLE: &[(&str, &str, &str)] =
    &[("alarm", "alarm_unrouted", "(unrouted_at, id)"), ("misfire", "misfire_unrouted", "(unrouted_at)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        addition::columns(manager, COLUMNS).await?;
        execute_all(manager.get_connection(), TABLES).await?;
        for (table, index, on) in UNIQUE {
            if !manager.has_index(table, index).await? {
                let text = format!("CREATE UNIQUE INDEX {index} ON {table} {on}");
                manager.get_connection().execute_unprepared(&text).await?;
            }
        }
        addition::indexes(manager, INDEXES).await?;
        let marks = match manager.get_connection().get_database_backend() {
            DbBackend::MySql => WHOLE,
            _ => PARTIAL,
        };
        addition::indexes(manager, marks).await
    }
}
