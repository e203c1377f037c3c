//! Accounts, sessions, tokens, what protects them, and the audit.

pub const ACCOUNTS: &[&str] = &[
    // grants: `all:admin`, `all:viewer 7:editor`; NULL grants nothing. identity_hash: hash of issuer and subject of an OpenID
    // provider; NULL: the account signs in with a password. totp_secret is encrypted. totp_since: since when a code is asked for;
    // NULL beside a secret: no code of it has been sent yet. totp_step: time step of the last accepted code. totp_proposed_at,
    // totp_session: when and to which session a secret was shown. credentials: how often they have changed; a sign-in that has
    // started counts only while this is as it was. provided_at: when the OpenID provider last vouched for the account. language
    // NULL: the browser's.
    "CREATE TABLE account (id {id}, name VARCHAR(64) NOT NULL, password_hash VARCHAR(255) NOT NULL, grants {long}, \
     created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, disabled_at BIGINT, reset_hash VARCHAR(64), reset_expires_at BIGINT, \
     identity_hash VARCHAR(64), issuer VARCHAR(255), totp_secret VARCHAR(255), totp_since BIGINT, totp_step BIGINT, \
     totp_proposed_at BIGINT, totp_session VARCHAR(64), credentials BIGINT NOT NULL DEFAULT 0, provided_at BIGINT, \
     language VARCHAR(8)){table}",
    "CREATE UNIQUE INDEX account_name ON account (name)",
    "CREATE UNIQUE INDEX account_identity ON account (identity_hash)",
    "CREATE TABLE recovery_code (account_id BIGINT NOT NULL, code_hash VARCHAR(64) NOT NULL, PRIMARY KEY (account_id, code_hash)){clustered}",
    "CREATE TABLE session (id_hash VARCHAR(64) NOT NULL PRIMARY KEY, account_id BIGINT NOT NULL, csrf VARCHAR(64) NOT NULL, \
     created_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, source VARCHAR(64), agent VARCHAR(255)){table}",
    "CREATE INDEX session_account ON session (account_id)",
    "CREATE INDEX session_expires ON session (expires_at)",
    "CREATE TABLE api_token (id {id}, account_id BIGINT NOT NULL, name VARCHAR(64) NOT NULL, token_hash VARCHAR(64) NOT NULL UNIQUE, \
     grants {long} NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, used_at BIGINT, used_from VARCHAR(64)){table}",
    "CREATE INDEX api_token_account ON api_token (account_id)",
];

pub const SIGN_IN: &[&str] = &[
    "CREATE TABLE sign_in_step (id_hash VARCHAR(64) NOT NULL, kind VARCHAR(16) NOT NULL, detail {long} NOT NULL, \
     source VARCHAR(64) NOT NULL, expires_at BIGINT NOT NULL, PRIMARY KEY (id_hash)){clustered}",
    "CREATE INDEX sign_in_step_source ON sign_in_step (source, expires_at)",
    "CREATE INDEX sign_in_step_end ON sign_in_step (expires_at)",
    "CREATE TABLE login_throttle (subject VARCHAR(255) NOT NULL PRIMARY KEY, failures INTEGER NOT NULL, until_at BIGINT NOT NULL){table}",
    "CREATE INDEX login_throttle_until ON login_throttle (until_at)",
];

pub const AUDIT: &[&str] = &[
    // app_id: the app whose administrators see the entry; NULL: those of all apps.
    "CREATE TABLE audit (id {id}, at BIGINT NOT NULL, actor VARCHAR(64) NOT NULL, actor_id BIGINT, token VARCHAR(64), \
     source VARCHAR(64) NOT NULL, action VARCHAR(32) NOT NULL, object VARCHAR(64) NOT NULL, object_id BIGINT NOT NULL, app_id BIGINT, \
     request_id VARCHAR(64), detail {long} NOT NULL){table}",
    "CREATE INDEX audit_at ON audit (at)",
    "CREATE INDEX audit_object ON audit (object, object_id, at)",
    "CREATE INDEX audit_app ON audit (app_id, at, id)",
    "CREATE INDEX audit_actor ON audit (actor, at, id)",
    "CREATE INDEX audit_action ON audit (action, at, id)",
    "CREATE INDEX audit_source ON audit (source, at, id)",
    // The object that a request made; a repeated request finds it.
    "CREATE TABLE idempotency (request_key VARCHAR(255) NOT NULL PRIMARY KEY, object_id BIGINT NOT NULL, created_at BIGINT NOT NULL){table}",
    "CREATE INDEX idempotency_created ON idempotency (created_at)",
];
