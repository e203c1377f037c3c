//! The words of recorded actions, as keys of the catalogue.

use carillon_locale::Language;
use carillon_scheduler::AuditAction;

/// An action as it is on record, in words. One of a newer version stays as it is.
pub fn action_text(language: Language, word: &str) -> String {
    word.parse().map_or_else(|_| word.replace('_', " "), |action| language.text(action_word(action)).to_string())
}

pub const fn action_word(action: AuditAction) -> &'static str {
    match action {
        AuditAction::Create => "action-create",
        AuditAction::Update => "action-update",
        AuditAction::Enable => "action-enable",
        AuditAction::Disable => "action-disable",
        AuditAction::Delete => "action-delete",
        AuditAction::Calendars => "action-calendars",
        AuditAction::ZoneData => "action-zone-data",
        AuditAction::Pause => "action-pause",
        AuditAction::Resume => "action-resume",
        AuditAction::Backfill => "action-backfill",
        AuditAction::CancelBackfill => "action-cancel-backfill",
        AuditAction::UpdateExecutor => "action-update-executor",
        AuditAction::Retention => "action-retention",
        AuditAction::Resync => "action-resync",
        AuditAction::Run => "action-run",
        AuditAction::Kill => "action-kill",
        AuditAction::Resolve => "action-resolve",
        AuditAction::SignIn => "action-sign-in",
        AuditAction::SignOut => "action-sign-out",
        AuditAction::EndSessions => "action-end-sessions",
        AuditAction::RefuseSignIn => "action-refuse-sign-in",
        AuditAction::RefuseResult => "action-refuse-result",
        AuditAction::Deny => "action-deny",
        AuditAction::UseToken => "action-use-token",
        AuditAction::Workflow => "action-workflow",
        AuditAction::Limit => "action-limit",
    }
}
