//! Apps, their executors and tokens, and the times in which they are paused.

pub const TABLES: &[&str] = &[
    // own_tokens_only: the token of all apps is refused.
    "CREATE TABLE app (id {id}, name VARCHAR(64) NOT NULL, title VARCHAR(64) NOT NULL, created_at BIGINT NOT NULL, \
     own_tokens_only BOOLEAN NOT NULL DEFAULT FALSE){table}",
    "CREATE UNIQUE INDEX app_name ON app (name)",
    // The jobs of the app starter_id may start jobs of the app app_id, as their children.
    "CREATE TABLE app_starter (app_id BIGINT NOT NULL, starter_id BIGINT NOT NULL, PRIMARY KEY (app_id, starter_id)){clustered}",
    // A former name of an app: its executors may still register under it.
    "CREATE TABLE app_alias (name VARCHAR(64) NOT NULL PRIMARY KEY, app_id BIGINT NOT NULL, created_at BIGINT NOT NULL){table}",
    "CREATE INDEX app_alias_app ON app_alias (app_id)",
    // The key has the app's name: executors may register before their app exists. weight, labels: as the executor reports them
    // with each heartbeat; NULL: not reported. token_id NULL: registered with the token of all apps. manual_since: when a person
    // entered the address; NULL: the executor registers by itself.
    "CREATE TABLE executor (app VARCHAR(64) NOT NULL, address VARCHAR(255) NOT NULL, boot_id VARCHAR(64), \
     capabilities VARCHAR(255), registered_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, \
     weight INTEGER, labels VARCHAR(255), journal_id VARCHAR(64), token_id BIGINT, manual_since BIGINT, \
     PRIMARY KEY (app, address)){table}",
    // What an operator has set; it outlives the registration. weight, labels NULL: as the executor reports them. draining_since:
    // since when the executor gets no new runs; NULL: it gets them.
    "CREATE TABLE executor_setting (app VARCHAR(64) NOT NULL, address VARCHAR(255) NOT NULL, weight INTEGER, \
     labels VARCHAR(255), draining_since BIGINT, updated_at BIGINT NOT NULL, PRIMARY KEY (app, address)){table}",
    // The digest is compared with what executors present; the encrypted token is sent to them.
    "CREATE TABLE executor_token (id {id}, app_id BIGINT NOT NULL, name VARCHAR(64) NOT NULL, token_hash VARCHAR(64) NOT NULL UNIQUE, \
     sealed VARCHAR(255) NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT, used_at BIGINT, used_from VARCHAR(64)){table}",
    "CREATE INDEX executor_token_app ON executor_token (app_id)",
    // app_id 0: all apps. ends_at NULL: the pause lasts until a person ends it.
    "CREATE TABLE app_pause (id {id}, app_id BIGINT NOT NULL, note VARCHAR(500) NOT NULL, author VARCHAR(64) NOT NULL, \
     starts_at BIGINT NOT NULL, ends_at BIGINT, created_at BIGINT NOT NULL){table}",
    "CREATE INDEX app_pause_end ON app_pause (ends_at)",
    // app_id 0: all apps. A window starts at each instant of the cron expression and lasts `minutes`. Windows that started up to
    // ended_at were ended by a person.
    "CREATE TABLE maintenance_window (id {id}, app_id BIGINT NOT NULL, note VARCHAR(500) NOT NULL, author VARCHAR(64) NOT NULL, \
     expression VARCHAR(255) NOT NULL, timezone VARCHAR(64) NOT NULL, minutes INTEGER NOT NULL, ended_at BIGINT, \
     created_at BIGINT NOT NULL){table}",
];
