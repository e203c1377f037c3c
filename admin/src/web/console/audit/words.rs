//! The words of the kinds of objects in the audit, as keys of the catalogue.

use carillon_scheduler::AuditObjectKind;

pub const fn object_word(object: AuditObjectKind) -> &'static str {
    match object {
        AuditObjectKind::Job => "object-job",
        AuditObjectKind::Run => "object-run",
        AuditObjectKind::App => "object-app",
        AuditObjectKind::Calendar => "object-calendar",
        AuditObjectKind::Account => "object-account",
        AuditObjectKind::ApiToken => "object-api-token",
        AuditObjectKind::Cluster => "object-cluster",
        AuditObjectKind::Shards => "object-shards",
        AuditObjectKind::Backfill => "object-backfill",
        AuditObjectKind::Path => "object-path",
        AuditObjectKind::ExecutorToken => "object-executor-token",
        AuditObjectKind::Alert => "object-alert",
        AuditObjectKind::AlertRule => "object-alert-rule",
        AuditObjectKind::AlertChannel => "object-alert-channel",
    }
}
