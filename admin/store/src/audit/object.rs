//! What an entry of the audit is about.

use carillon_scheduler::AuditObjectKind;

/// What an entry is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditObject {
    pub kind: AuditObjectKind,
    pub id: i64,
    /// The app whose administrators see the entry; None: only those of all apps do.
    pub app_id: Option<i64>,
}

impl AuditObject {
    pub const fn new(kind: AuditObjectKind, id: i64) -> Self {
        Self { kind, id, app_id: None }
    }

    /// The same with the app whose administrators see the entry.
    #[must_use]
    pub const fn in_app(self, app_id: Option<i64>) -> Self {
        Self { app_id, ..self }
    }

    pub const fn job(id: i64, app_id: i64) -> Self {
        Self::new(AuditObjectKind::Job, id).in_app(Some(app_id))
    }

    pub const fn run(id: i64, app_id: i64) -> Self {
        Self::new(AuditObjectKind::Run, id).in_app(Some(app_id))
    }

    pub const fn app(id: i64) -> Self {
        Self::new(AuditObjectKind::App, id).in_app(Some(id))
    }

    pub const fn executor_token(id: i64, app_id: i64) -> Self {
        Self::new(AuditObjectKind::ExecutorToken, id).in_app(Some(app_id))
    }

    pub const fn account(id: i64) -> Self {
        Self::new(AuditObjectKind::Account, id)
    }

    pub const fn api_token(id: i64) -> Self {
        Self::new(AuditObjectKind::ApiToken, id)
    }
}
