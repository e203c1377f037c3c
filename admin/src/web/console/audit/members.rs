//! The members of an entry as the forms name and show them. History, audit and the question before a restore share it.

use carillon_scheduler::workflow::NodeDraft;
use carillon_scheduler::{BlockStrategy, Cause, Overlap, RetryDelay, RouteStrategy, Weekday};
use serde_json::Value;

use crate::web::console::alerts::{channels, rule_form};
use crate::web::console::apps::limits;
use crate::web::console::audit::change::{ChangedMember, changes, remarks, time_of};
use crate::web::console::workflows::definition::node_text;
use crate::web::forms::{calendar_form, job_form};
use crate::web::locale::{Language, Message};
use crate::web::page::PageContext;
use crate::web::text::format::period;
use crate::web::text::names::{cause_text, weekday_name};
use crate::web::text::schedule::KINDS;
use crate::web::text::strategies;

/// Members that no form has, or that it has under another name, and the keys of their labels.
const OTHERS: &[(&str, &str)] = &[
    ("action", "member-decision"),
    ("address", "address"),
    ("anchor_at", "member-anchor"),
    ("backfill", "backfill"),
    ("by", "pause-by"),
    ("cause", "cause"),
    ("count", "member-count"),
    ("days", "retention-runs"),
    ("declarations", "declared-setting"),
    ("deleted", "member-deleted"),
    ("delayed", "scheduled-runs"),
    ("draining", "member-draining"),
    ("due_at", "scheduled-due"),
    ("ended_at", "member-ended"),
    ("ended_sessions", "member-ended-sessions"),
    ("expires_at", "token-expires"),
    ("failure_days", "retention-failed"),
    ("failures", "retention-last"),
    ("former_name", "app-former-names"),
    ("grants", "roles"),
    ("http", "http-request"),
    ("instants", "instants"),
    ("issuer", "member-issuer"),
    ("job", "job"),
    ("kind", "executor-kind"),
    ("labels", "executor-labels"),
    ("manual", "executor-entered-by-hand"),
    ("method", "account-sign-in"),
    ("milliseconds", "interval"),
    ("minutes", "window-duration"),
    ("node", "node"),
    ("note", "pause-note"),
    ("outcome", "result"),
    ("own_tokens_only", "app-global-refuse"),
    ("pause", "pause"),
    ("reason", "why"),
    ("removed", "member-deleted"),
    ("rerun_of", "rerun-of"),
    ("revoked_tokens", "member-revoked-tokens"),
    ("runs", "retention-most"),
    ("runs_scripts", "app-runs-scripts"),
    ("script", "script"),
    ("second_factor", "factor"),
    ("secret", "member-secret"),
    ("sessions", "sessions"),
    ("set", "job-set"),
    ("shards", "shards"),
    ("started_by", "app-starters-apps"),
    ("spread_offset", "member-spread-offset"),
    ("title", "title"),
    ("until", "pause-until"),
    ("weight", "executor-weight"),
];

/// Words of members and the keys of their names, as the selects of the forms have them.
const WORDS: &[(&str, &[(&str, &str)])] = &[
    ("catch_up", &[("all", "catch-up-run-all"), ("latest", "catch-up-run-latest")]),
    (
        "misfire",
        &[
            ("fire_once", "misfire-choose-once"),
            ("skip", "misfire-choose-skip"),
            ("fire_all", "misfire-choose-all"),
            ("fire_within", "misfire-choose-within"),
        ],
    ),
    ("durability", &[("durable", "durability-durable"), ("best_effort", "durability-best-effort")]),
    ("clock_changes", &[("carillon", "clock-changes-once"), ("xxl", "clock-changes-xxl")]),
    ("on_excluded", &[("skip", "on-excluded-skip"), ("next_working_day", "on-excluded-move")]),
    ("kind", &KINDS),
    (
        "method",
        &[
            ("password", "sign-in-password"),
            ("provider", "sign-in-openid"),
            ("reset_link", "sign-in-reset-link"),
            ("set_up", "sign-in-set-up"),
            ("new_password", "sign-in-new-password"),
            ("token", "sign-in-token"),
        ],
    ),
    (
        "action",
        &[
            ("hold", "workflow-hold"),
            ("release", "workflow-release"),
            ("retry", "node-retry"),
            ("skip", "node-skip"),
            ("mark_succeeded", "node-succeed"),
            ("mark_failed", "node-fail"),
        ],
    ),
    ("second_factor", &[("code", "sign-in-code"), ("recovery_code", "sign-in-recovery-code")]),
];

/// Before the name of a node of a workflow, which changes as a whole.
const NODES: &str = "workflow.nodes.";

/// A member that an entry changed.
pub struct ChangeLine {
    /// None: no form has it.
    pub label: Option<Message>,
    pub change: ChangedMember,
}

/// Something else that an entry says.
pub struct RemarkLine {
    pub label: Option<Message>,
    pub name: String,
    pub text: String,
}

/// What an entry about an object of this kind changed.
pub fn change_lines(context: &PageContext, object: &str, detail: &Value) -> Vec<ChangeLine> {
    let found = changes(detail, |path, value| words(context, path, value));
    found
        .into_iter()
        .map(|change| ChangeLine { label: label(context.language, object, &change.name), change })
        .collect()
}

/// What else it says: `reason`, `note`, …
pub fn remark_lines(context: &PageContext, object: &str, detail: &Value) -> Vec<RemarkLine> {
    let found = remarks(detail, |path, value| words(context, path, value));
    found
        .into_iter()
        .map(|(name, text)| RemarkLine { label: label(context.language, object, &name), name, text })
        .collect()
}

/// What the form calls the member. None: no form has it.
fn label(language: Language, object: &str, path: &str) -> Option<Message> {
    if let Some(calendar) = path.strip_prefix("calendar_versions.") {
        return Some(language.text("member-calendar-version").with("name", calendar));
    }
    if let Some(node) = path.strip_prefix(NODES) {
        return Some(language.text("member-workflow-node").with("node", node));
    }
    if let Some(member) = path.strip_prefix("http.") {
        return Some(language.text("member-http").with("member", member));
    }
    let find = |fields: &[(&'static str, &'static str)], name: &str| {
        fields.iter().find(|(field, _)| *field == name).map(|(_, key)| *key)
    };
    let (name, in_schedule) = match path.strip_prefix("schedule.") {
        Some(name) => (name, true),
        None => (path, false),
    };
    let key = match (object, name) {
        (_, "retry_delay") => Some("retry-delay"),
        (_, "workflow.output") => Some("member-workflow-result"),
        ("calendar", name) => find(calendar_form::LABELS, name),
        ("limit", "key") => Some("limit-key"),
        ("limit", name) => find(limits::form::LABELS, name),
        ("alert_channel", name) => find(channels::LABELS, name.strip_prefix("settings.").unwrap_or(name)),
        ("alert_rule", "escalation" | "escalation.channels") => find(rule_form::LABELS, "second_channels"),
        ("alert_rule", name) => find(rule_form::LABELS, name.strip_prefix("escalation.").unwrap_or(name)),
        // The same word for another member than in a schedule.
        (_, "kind") if !in_schedule => Some("executor-kind"),
        (_, name) => find(&job_form::labels(), name).or_else(|| find(OTHERS, name)),
    };
    key.map(|key| language.text(key))
}

/// A value as the form shows it. None: as it is.
fn words(context: &PageContext, path: &str, value: &Value) -> Option<String> {
    let language = context.language;
    let name = path.rsplit('.').next().unwrap_or_default();
    let text = |key: &'static str| language.text(key).to_string();
    match value {
        Value::Object(_) if path == "retry_delay" => {
            let delay: RetryDelay = serde_json::from_value(value.clone()).ok()?;
            Some(strategies::retry_delay(language, &delay).to_string())
        }
        Value::Object(_) if path.starts_with(NODES) => {
            let node: NodeDraft = serde_json::from_value(value.clone()).ok()?;
            Some(node_text(language, &node))
        }
        Value::Bool(is_set) => Some(text(if *is_set { "yes" } else { "no" })),
        Value::String(word) if word.is_empty() => Some(text("member-empty")),
        Value::Array(items) if items.is_empty() => Some(text("member-empty")),
        Value::String(word) => word_text(language, path, word),
        Value::Array(items) => list_text(language, name, items),
        Value::Number(number) => match time_of(name, number) {
            Some(at) => Some(context.full(&at)),
            None if name.ends_with("seconds") => {
                number.as_i64().filter(|seconds| *seconds > 0).map(|seconds| period(language, seconds))
            }
            None => None,
        },
        _ => None,
    }
}

fn word_text(language: Language, path: &str, word: &str) -> Option<String> {
    let name = path.rsplit('.').next().unwrap_or_default();
    Some(match name {
        "route" => strategies::route_name(language, word.parse::<RouteStrategy>().ok()?).to_string(),
        "block" => strategies::block_name(language, word.parse::<BlockStrategy>().ok()?).to_string(),
        "overlap" => strategies::overlap_name(language, word.parse::<Overlap>().ok()?).to_string(),
        "cause" => cause_text(language, word.parse::<Cause>().ok()?).to_string(),
        "retry_delay" => strategies::retry_delay(language, &word.parse::<RetryDelay>().ok()?).to_string(),
        "kind" if path != "schedule.kind" => return None,
        name => {
            let (_, words) = WORDS.iter().find(|(member, _)| *member == name)?;
            let (_, key) = words.iter().find(|(known, _)| *known == word)?;
            language.text(key).to_string()
        }
    })
}

fn list_text(language: Language, name: &str, items: &[Value]) -> Option<String> {
    let texts: Option<Vec<String>> = match name {
        "weekdays" => {
            let day = |item: &Value| Some(weekday_name(language, item.as_str()?.parse::<Weekday>().ok()?).to_string());
            items.iter().map(day).collect()
        }
        "children" => items.iter().map(|item| Some(format!("#{}", item.as_i64()?))).collect(),
        _ => None,
    };
    texts.map(|texts| texts.join(", "))
}

#[cfg(test)]
mod tests {
    use carillon_scheduler::JobDraft;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_member_of_a_job_has_the_name_of_the_form() {
        let draft = json!(JobDraft::new("orders", "Settle", "settle"));
        let schedule =
            ["kind", "expression", "timezone", "clock_changes", "seconds", "at", "every_seconds", "start_at"];
        let names = draft.as_object().unwrap().keys().filter(|name| *name != "schedule").cloned();
        for name in names.chain(schedule.map(|name| format!("schedule.{name}"))) {
            assert!(label(Language::English, "job", &name).is_some(), "{name}");
        }
    }

    #[test]
    fn each_member_of_a_rule_and_of_a_channel_has_the_name_of_the_form() {
        let rule = "name app_id enabled kinds jobs threshold running_seconds running_p95_percent group_by group_seconds channels \
                    escalation escalation.channels escalation.after_seconds repeat_seconds recovered silences";
        let channel = "name kind secrets apps language zone per_hour settings.host settings.port settings.tls settings.ca \
                       settings.user settings.from settings.to settings.url settings.template";
        for (object, names) in [("alert_rule", rule), ("alert_channel", channel)] {
            for name in names.split_whitespace() {
                assert!(label(Language::English, object, name).is_some(), "{object} {name}");
            }
        }
    }

    #[test]
    fn a_node_of_a_workflow_is_one_member_in_words() {
        let node = json!({"job": 7, "after": [{"node": "check", "on": "failure"}], "params": "{{workflow.params}}", "if_failed": "ignore"});
        let node: NodeDraft = serde_json::from_value(node).unwrap();
        let text = node_text(Language::English, &node);
        assert_eq!(
            text,
            "Job: #7; After: check (on failure); Parameters: {{workflow.params}}; If it fails: it counts as succeeded"
        );
        let label = label(Language::English, "job", "workflow.nodes.load").unwrap();
        assert_eq!(label.to_string(), "Node load");
    }

    #[test]
    fn values_are_shown_in_the_words_of_the_selects() {
        let word = |path: &str, word: &str| word_text(Language::English, path, word);
        assert_eq!(word("misfire", "fire_once").as_deref(), Some("Fire once for all misfires"));
        assert_eq!(word("route", "round_robin").as_deref(), Some("Round robin"));
        assert_eq!(word("schedule.kind", "fixed_rate").as_deref(), Some("Fixed rate"));
        assert_eq!((word("kind", "slack"), word("name", "skip")), (None, None));
        let days = list_text(Language::Chinese, "weekdays", &[json!("MON"), json!("FRI")]);
        assert_eq!(days.as_deref(), Some("周一, 周五"));
    }
}
