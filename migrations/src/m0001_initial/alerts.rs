//! Alarms, which the engine writes, and alerts, which rules make of them.

pub const ALARMS: &[&str] = &[
    // level: 0, and 1 from escalated_at on. open_at: since when the alarm is open; NULL: it is resolved, or was never open.
    // unrouted_at: no alert rule has looked at the alarm yet; this mark is its place in the outbox, written in the transaction of
    // the event.
    "CREATE TABLE alarm (id {id}, job_id BIGINT NOT NULL, run_id BIGINT, kind VARCHAR(32) NOT NULL, message {long} NOT NULL, \
     created_at BIGINT NOT NULL, level SMALLINT NOT NULL DEFAULT 0, open_at BIGINT, escalated_at BIGINT, closed_at BIGINT, \
     unrouted_at BIGINT){table}",
    "CREATE INDEX alarm_created ON alarm (created_at, id)",
    "CREATE INDEX alarm_open ON alarm (open_at)",
    "CREATE INDEX alarm_run ON alarm (run_id)",
    "CREATE INDEX alarm_job ON alarm (job_id, created_at, id)",
    "CREATE INDEX alarm_kind ON alarm (kind, created_at, id)",
    // Partial: few alarms are escalated, and few have the mark, for a second each.
    "sqlite postgres: CREATE INDEX alarm_escalated ON alarm (created_at, id) WHERE level > 0",
    "mysql: CREATE INDEX alarm_escalated ON alarm (level, created_at, id)",
    "CREATE INDEX alarm_unrouted ON alarm (unrouted_at, id) WHERE unrouted_at > 0",
];

pub const ALERTS: &[&str] = &[
    // settings: JSON without secrets. sealed: JSON with the secrets, encrypted. apps: JSON with the ids of the apps that may use the
    // channel; NULL: all. language and zone: of its messages. per_hour: messages that it gets in an hour.
    "CREATE TABLE alert_channel (id {id}, name VARCHAR(64) NOT NULL, kind VARCHAR(16) NOT NULL, settings {long} NOT NULL, \
     sealed {long}, apps {long}, language VARCHAR(8) NOT NULL, zone VARCHAR(64) NOT NULL, per_hour BIGINT NOT NULL, revision BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL){table}",
    "CREATE UNIQUE INDEX alert_channel_name ON alert_channel (name)",
    // app_id NULL: the rule is for all apps. name_scope: app_id, or 0; NULL would not make names unique.
    "CREATE TABLE alert_rule (id {id}, name VARCHAR(64) NOT NULL, app_id BIGINT, name_scope BIGINT NOT NULL, definition {long} NOT NULL, \
     enabled BOOLEAN NOT NULL, revision BIGINT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL){table}",
    "CREATE UNIQUE INDEX alert_rule_name ON alert_rule (name_scope, name)",
    // open_key: set while the alert is not resolved; a group has one such alert. due_at: the earliest of notify_at, repeat_at and
    // escalate_at. steps: messages about events so far; the distance to the next one grows with them. silent_until: of one that a
    // person has silenced.
    "CREATE TABLE alert (id {id}, rule_id BIGINT NOT NULL, group_key VARCHAR(64) NOT NULL, open_key VARCHAR(96), app_id BIGINT, \
     state SMALLINT NOT NULL, kind VARCHAR(32) NOT NULL, message {long} NOT NULL, events BIGINT NOT NULL, told BIGINT NOT NULL, steps BIGINT NOT NULL, \
     opened_at BIGINT NOT NULL, last_at BIGINT NOT NULL, told_at BIGINT, notify_at BIGINT, repeat_at BIGINT, escalate_at BIGINT, \
     due_at BIGINT, escalated_at BIGINT, acknowledged_at BIGINT, acknowledged_by VARCHAR(64), note VARCHAR(500), silent_until BIGINT, \
     resolved_at BIGINT){table}",
    "CREATE UNIQUE INDEX alert_open ON alert (open_key)",
    "CREATE INDEX alert_due ON alert (due_at, id)",
    "CREATE INDEX alert_last ON alert (last_at, id)",
    "CREATE INDEX alert_of_rule ON alert (rule_id, group_key)",
    // What an alert is about: each job, executor or condition of its group.
    "CREATE TABLE alert_item (alert_id BIGINT NOT NULL, subject VARCHAR(255) NOT NULL, kind VARCHAR(32) NOT NULL, \
     job_id BIGINT, run_id BIGINT, message {long} NOT NULL, events BIGINT NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL, \
     resolved_at BIGINT, PRIMARY KEY (alert_id, subject)){clustered}",
    // next_at NULL: the delivery is finished. While it is being sent, next_at is ahead by the time that a try may take.
    "CREATE TABLE alert_delivery (id {id}, alert_id BIGINT, channel_id BIGINT NOT NULL, kind VARCHAR(16) NOT NULL, \
     message {long} NOT NULL, state SMALLINT NOT NULL, attempts INTEGER NOT NULL, created_at BIGINT NOT NULL, next_at BIGINT, \
     finished_at BIGINT, answer {long}){table}",
    "CREATE INDEX delivery_next ON alert_delivery (next_at, id)",
    "CREATE INDEX delivery_alert ON alert_delivery (alert_id, id)",
    "CREATE INDEX delivery_channel ON alert_delivery (channel_id, id)",
    // How many a channel got in the last hour.
    "CREATE INDEX delivery_hour ON alert_delivery (channel_id, created_at)",
    "CREATE INDEX delivery_created ON alert_delivery (created_at)",
];
