//! The fields of a rule's form, and the rule that they describe.

use carillon_alerts::manage::RuleDraft;
use carillon_alerts::silence;
use carillon_scheduler::AlertKind;
use carillon_store::alert::rules::{AlertRule, Escalation, GroupBy, RuleDefinition};

use crate::web::forms::{Form, child_jobs};

/// The fields and the keys of their labels, in the order of the page.
pub const LABELS: &[(&str, &str)] = &[
    ("name", "name"),
    ("app", "app"),
    ("app_id", "member-app-id"),
    ("enabled", "rule-enabled"),
    ("kinds", "alert-events"),
    ("threshold", "rule-threshold"),
    ("running_seconds", "rule-running-seconds"),
    ("running_p95_percent", "rule-running-percent"),
    ("jobs", "rule-jobs"),
    ("children", "rule-jobs"),
    ("child_name", "rule-jobs"),
    ("channels", "channels"),
    ("second_channels", "rule-second-channels"),
    ("after_seconds", "rule-second-after"),
    ("group_by", "rule-group"),
    ("group_seconds", "rule-gather"),
    ("repeat_seconds", "rule-repeat"),
    ("recovered", "rule-recovered"),
    ("silences", "rule-silence"),
];

/// A new rule: what people want to know first.
pub fn first() -> Form {
    Form::default()
        .with("kinds", "failed\nunknown\nlost\npaused\nlong_running\nno_executor")
        .with("threshold", "1")
        .with("group_by", "app")
        .with("running_p95_percent", "300")
        .with("group_seconds", "300")
        .with("recovered", "yes")
        .with("enabled", "yes")
}

/// A rule as the form shows it. `app`: the name of its app.
pub fn filled(rule: &AlertRule, app: &str) -> Form {
    let it = &rule.definition;
    let number = |number: Option<i64>| number.map_or_else(String::new, |number| number.to_string());
    let list = |ids: &[i64]| ids.iter().map(i64::to_string).collect::<Vec<_>>().join("\n");
    let yes = |is: bool| if is { "yes" } else { "" };
    let kinds: Vec<&str> = it.kinds.iter().map(|kind| kind.as_str()).collect();
    let silences: Vec<String> = it.silences.iter().map(silence::text).collect();
    let escalation = it.escalation.as_ref();
    Form::default()
        .with("name", &rule.name)
        .with("app", app)
        .with("enabled", yes(rule.enabled))
        .with("kinds", kinds.join("\n"))
        .with("children", list(&it.jobs))
        .with("threshold", it.threshold.to_string())
        .with("running_seconds", number(it.running_seconds))
        .with("running_p95_percent", number(it.running_p95_percent))
        .with("group_by", group_word(it.group_by))
        .with("group_seconds", it.group_seconds.to_string())
        .with("channels", list(&it.channels))
        .with("second_channels", escalation.map_or_else(String::new, |it| list(&it.channels)))
        .with("after_seconds", number(escalation.map(|it| it.after_seconds)))
        .with("repeat_seconds", number(it.repeat_seconds))
        .with("recovered", yes(it.recovered))
        .with("silences", silences.join("\n"))
        .with("revision", rule.revision.to_string())
}

const fn group_word(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Rule => "rule",
        GroupBy::App => "app",
        GroupBy::Job => "job",
    }
}

/// None: the field is empty.
fn seconds(form: &mut Form, name: &str) -> Option<i64> {
    form.given(name).map(|_| form.seconds(name, 0))
}

/// The rule that was filled in. A value that cannot be read gets an error in the form.
pub fn draft(form: &mut Form) -> RuleDraft {
    let ids = |form: &mut Form, name: &str| {
        let words = form.value(name).replace([',', '\n', '\r'], " ");
        let read: Result<Vec<i64>, _> = words.split_whitespace().map(str::parse).collect();
        read.unwrap_or_else(|_| {
            form.add_error(name, "Write ids, such as 12, 15");
            vec![]
        })
    };
    let kinds = form.items("kinds").iter().filter_map(|word| word.parse::<AlertKind>().ok()).collect();
    let mut silences = vec![];
    for line in form.items("silences").iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        match silence::parse(line) {
            Ok(silence) => silences.push(silence),
            Err(why) => form.add_error("silences", why),
        }
    }
    let second = ids(form, "second_channels");
    let after_seconds = seconds(form, "after_seconds");
    let escalation = (!second.is_empty() || after_seconds.is_some())
        .then(|| Escalation { channels: second, after_seconds: after_seconds.unwrap_or(0) });
    let group_by = match form.value("group_by") {
        "rule" => GroupBy::Rule,
        "job" => GroupBy::Job,
        _ => GroupBy::App,
    };
    RuleDraft {
        name: form.value("name").to_owned(),
        app: Some(form.value("app").to_owned()).filter(|app| !app.is_empty()),
        enabled: form.is("enabled", "yes"),
        definition: RuleDefinition {
            kinds,
            jobs: child_jobs::children(form),
            threshold: form.number("threshold", 1),
            running_seconds: seconds(form, "running_seconds"),
            running_p95_percent: form.optional_number("running_p95_percent", 0),
            group_by,
            group_seconds: form.seconds("group_seconds", 300),
            channels: ids(form, "channels"),
            escalation,
            repeat_seconds: seconds(form, "repeat_seconds"),
            recovered: form.is("recovered", "yes"),
            silences,
        },
    }
}
