//! Which unique key a row has violated: PostgreSQL and MySQL name the index, SQLite its columns.

use sea_orm::{DbErr, SqlErr};

/// The keys that a caller's own words may violate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UniqueKey {
    AccountName,
    AlertChannelName,
    AlertRuleName,
    AppName,
    CalendarName,
    LimitName,
    RequestKey,
}

impl UniqueKey {
    /// Is it this key that the database reports as violated?
    pub fn is_violated(self, error: &DbErr) -> bool {
        let Some(SqlErr::UniqueConstraintViolation(message)) = error.sql_err() else {
            return false;
        };
        let names: &[&str] = match self {
            Self::AccountName => &["account_name", "account.name"],
            Self::AlertChannelName => &["alert_channel_name", "alert_channel.name"],
            Self::AlertRuleName => &["alert_rule_name", "alert_rule.name_scope, alert_rule.name"],
            Self::AppName => &["app_name", "app.name"],
            Self::CalendarName => &["calendar_name", "calendar.name"],
            Self::LimitName => &["limit_rule_name", "limit_rule.app_id, limit_rule.name"],
            Self::RequestKey => &["idempotency_pkey", "PRIMARY", "idempotency.request_key"],
        };
        // The name is last; what stands before it may hold anything that a client has sent.
        let message = message.trim_end_matches(['\'', '"']);
        names.iter().any(|name| {
            let before = message.strip_suffix(name).and_then(|before| before.chars().next_back());
            before.is_some_and(|before| matches!(before, '\'' | '"' | '.' | ' '))
        })
    }

    /// What is taken then.
    pub fn subject(self) -> &'static str {
        match self {
            Self::AccountName => "the name",
            Self::AlertChannelName => "the channel name",
            Self::AlertRuleName => "the rule name",
            Self::AppName => "the app name",
            Self::CalendarName => "the calendar name",
            Self::LimitName => "the limit name",
            Self::RequestKey => "the idempotency key",
        }
    }
}
