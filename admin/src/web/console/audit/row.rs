//! An entry of the audit as a row.

use carillon_inspect::explain::action_text;
use carillon_scheduler::AuditObjectKind;
use carillon_store::audit::list::AuditRow;
use serde_json::Value;

use crate::web::console::audit::members::{ChangeLine, RemarkLine, change_lines, remark_lines};
use crate::web::page::PageContext;

/// Changed members that are shown without a click.
const OPEN: usize = 3;

pub struct Row {
    pub entry: AuditRow,
    /// `cancel backfill`.
    pub action: String,
    pub is_refusal: bool,
    pub changes: Vec<ChangeLine>,
    pub remarks: Vec<RemarkLine>,
    /// The object's page.
    pub link: Option<String>,
    /// `job 7`.
    pub object: String,
    pub name: Option<String>,
}

impl Row {
    pub fn new(entry: AuditRow, context: &PageContext) -> Self {
        let detail: Value = serde_json::from_str(&entry.detail).unwrap_or_default();
        let id = entry.object_id;
        let link = match entry.object.as_str() {
            "job" if entry.object_name.is_some() => Some(format!("/jobs/{id}")),
            "run" => Some(format!("/runs/{id}")),
            "account" if entry.object_name.is_some() && context.may_see_installation() => Some(format!("/users/{id}")),
            "calendar" if entry.object_name.is_some() => Some("/calendars".to_owned()),
            _ => None,
        };
        // A word of a newer version is shown as it is.
        let plain = |word: &str| word.replace('_', " ");
        let kind =
            entry.object.parse().map_or_else(|_| plain(&entry.object), |it| context.t(object_word(it)).to_string());
        // What is gone is called as it was last.
        let told = |part: &str| detail[part]["name"].as_str().map(str::to_owned);
        let name = entry.object_name.clone().or_else(|| told("before")).or_else(|| told("after"));
        Self {
            action: action_text(context.language, &entry.action),
            is_refusal: matches!(entry.action.as_str(), "deny" | "limit" | "refuse_sign_in"),
            changes: change_lines(context, &entry.object, &detail),
            remarks: remark_lines(context, &entry.object, &detail),
            link,
            object: match id {
                0 => kind,
                _ => context.t("object-number").with("kind", kind).with("id", id).to_string(),
            },
            name: name.or_else(|| entry.app.clone().filter(|_| entry.object == "app")),
            entry,
        }
    }

    pub fn is_short(&self) -> bool {
        self.changes.len() <= OPEN
    }
}

/// The key of the word for a kind of object.
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
        AuditObjectKind::Limit => "object-limit",
    }
}
