//! Templates of parameters and results: `{{workflow.params}}`, `{{nodes.extract.result#/rows}}`. They are filled when a node is started.
//! `{{workflow.scheduled_at}}` takes the format and the zone that `{{scheduled_at}}` takes in the parameters of a job.
//!
//! Other text in braces stays as it is, as in the parameters of a job: `{{part}}` in the parameters of a node is replaced when its run is sent.

use super::input::WorkflowInput;
use super::limits::{PLACEHOLDERS, TEXT_BYTES};
use super::state::NodeState;
use super::value_path::{check_path, inserted};
use crate::job::placeholders::{InstantForm, Piece, pieces_of};

/// Maximum number of bytes of a placeholder: a node's name, a path and the words around them.
const PLACEHOLDER_BYTES: usize = 512;
/// The names that a placeholder may have.
const ALLOWED: &str =
    "workflow.params, workflow.scheduled_at, workflow.fire_key, workflow.run_id, nodes.N.result and nodes.N.state";

/// A template whose names are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Value(Source),
}

/// What a placeholder stands for. The text of a path is empty for the whole text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Params {
        path: Option<String>,
    },
    /// `FORMAT|ZONE`, checked.
    ScheduledAt {
        form: String,
    },
    FireKey,
    RunId,
    Result {
        node: usize,
        path: Option<String>,
    },
    State {
        node: usize,
    },
}

impl Template {
    /// Reads a template; `find` knows the positions of the nodes.
    ///
    /// # Errors
    /// One for each placeholder that is wrong.
    pub(super) fn parse(text: &str, find: impl Fn(&str) -> Option<usize>) -> Result<Self, Vec<String>> {
        let (mut parts, mut errors) = (vec![], vec![]);
        for piece in pieces_of(text, PLACEHOLDER_BYTES, |inner| source(inner, &find)) {
            match piece {
                Piece::Text(text) => parts.push(Part::Text(text.to_owned())),
                Piece::Placeholder(Ok(source), _) => parts.push(Part::Value(source)),
                Piece::Placeholder(Err(error), _) => errors.push(error),
            }
        }
        errors.extend(check_size(text, parts.iter().filter(|part| matches!(part, Part::Value(_))).count()).err());
        if errors.is_empty() { Ok(Self { text: text.to_owned(), parts }) } else { Err(errors) }
    }

    /// The template as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The nodes whose results or states it reads.
    pub fn nodes(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(Source::Result { node, .. } | Source::State { node }) => Some(*node),
            _ => None,
        })
    }

    /// The text with all values; `node` knows the result and the state of a node.
    pub(super) fn fill<'a>(
        &self,
        input: &WorkflowInput<'_>,
        node: impl Fn(usize) -> (Option<&'a str>, NodeState),
    ) -> String {
        let mut filled = String::with_capacity(self.text.len());
        for part in &self.parts {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Value(Source::Params { path }) => filled.push_str(&value(input.params, path.as_deref())),
                Part::Value(Source::ScheduledAt { form }) => filled.push_str(&instant(input, form)),
                Part::Value(Source::FireKey) => filled.push_str(input.fire_key),
                Part::Value(Source::RunId) => filled.push_str(&input.run_id.to_string()),
                Part::Value(Source::Result { node: index, path }) => {
                    filled.push_str(&value(node(*index).0.unwrap_or_default(), path.as_deref()));
                }
                Part::Value(Source::State { node: index }) => filled.push_str(node(*index).1.as_str()),
            }
        }
        filled
    }
}

fn instant(input: &WorkflowInput<'_>, form: &str) -> String {
    InstantForm::parse(form).and_then(|form| form.text(input.scheduled_at, input.zone)).unwrap_or_default()
}

fn value(text: &str, path: Option<&str>) -> String {
    path.map_or_else(|| text.to_owned(), |path| inserted(text, path))
}

fn check_size(text: &str, placeholders: usize) -> Result<(), String> {
    match (text.len(), placeholders) {
        (size, _) if size > TEXT_BYTES => Err(format!("has {size} bytes; at most {TEXT_BYTES} (64 KiB) are allowed")),
        (_, count) if count > PLACEHOLDERS => {
            Err(format!("has {count} placeholders; at most {PLACEHOLDERS} are allowed"))
        }
        // PostgreSQL cannot store NUL in a text.
        _ if text.contains('\0') => Err("must not contain the character NUL".to_owned()),
        _ => Ok(()),
    }
}

/// None: the text is not for a workflow.
fn source(inner: &str, find: impl Fn(&str) -> Option<usize>) -> Option<Result<Source, String>> {
    if let Some((name, form)) = inner.split_once('|')
        && name.trim() == "workflow.scheduled_at"
        && let Some(parsed) = InstantForm::parse(form)
    {
        return Some(parsed.check().map(|()| Source::ScheduledAt { form: form.to_owned() }));
    }
    let (name, path) = match inner.split_once('#') {
        Some((name, path)) => (name.trim(), Some(path.trim())),
        None => (inner.trim(), None),
    };
    let segments: Vec<&str> = name.split('.').collect();
    if !matches!(segments[0], "workflow" | "workflows" | "node" | "nodes") {
        return None;
    }
    if let Some(Err(error)) = path.map(check_path) {
        return Some(Err(error));
    }
    Some(match (segments.as_slice(), path) {
        (["workflow", "params"], path) => Ok(Source::Params { path: path.map(str::to_owned) }),
        (["workflow", "scheduled_at"], None) => Ok(Source::ScheduledAt { form: String::new() }),
        (["workflow", "fire_key"], None) => Ok(Source::FireKey),
        (["workflow", "run_id"], None) => Ok(Source::RunId),
        (["nodes", node, "result"], path) => {
            of_node(node, find).map(|node| Source::Result { node, path: path.map(str::to_owned) })
        }
        (["nodes", node, "state"], None) => of_node(node, find).map(|node| Source::State { node }),
        _ => Err(format!("a template cannot read `{:.64}`; allowed: {ALLOWED}", inner.trim())),
    })
}

fn of_node(name: &str, find: impl Fn(&str) -> Option<usize>) -> Result<usize, String> {
    find(name).ok_or_else(|| format!("the template names the node `{name:.64}`, which does not exist"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::{Zone, zone_data};

    const INPUT: WorkflowInput<'_> = WorkflowInput {
        params: r#"{"day": "Monday", "limit": 10}"#,
        scheduled_at: 1_751_587_200_000,
        zone: Zone::UTC,
        fire_key: "7:1751587200",
        run_id: 4711,
    };

    fn filled(text: &str) -> String {
        let find = |name: &str| ["extract", "skip"].iter().position(|&node| node == name);
        Template::parse(text, find).unwrap().fill(&INPUT, |node| {
            [(Some(r#"{"rows": [1, 2], "text": "a\"b"}"#), NodeState::Succeeded), (None, NodeState::Skipped)][node]
        })
    }

    #[test]
    fn each_placeholder_has_its_value() {
        for (text, expected) in [
            ("", ""),
            ("plain { } }} {{", "plain { } }} {{"),
            ("{{workflow.params}}", INPUT.params),
            ("{{ workflow.params#/day }} {{workflow.params#/limit}}", "Monday 10"),
            ("{{workflow.scheduled_at}}", "2025-07-04T00:00:00Z"),
            ("{{ workflow.scheduled_at | %F }} {{workflow.scheduled_at|%d#%m}}", "2025-07-04 04#07"),
            (
                "{{workflow.scheduled_at|%H:%M|Europe/Berlin}} {{workflow.scheduled_at||Asia/Tokyo}}",
                "02:00 2025-07-04T09:00:00+09:00",
            ),
            ("{{workflow.scheduled_at|s}} {{workflow.scheduled_at|ms}}", "1751587200 1751587200000"),
            ("{{workflow.fire_key}} {{workflow.run_id}}", "7:1751587200 4711"),
            ("{{nodes.extract.result}}", r#"{"rows": [1, 2], "text": "a\"b"}"#),
            ("{{nodes.extract.result#/rows}}{{nodes.extract.result#/text}}", "[1, 2]a\"b"),
            ("[{{nodes.extract.result#/none}}]", "[]"),
            ("[{{nodes.skip.result}}] {{nodes.skip.state}}", "[] skipped"),
            ("{{{{nodes.extract.state}}}}", "{{succeeded}}"),
            ("{{part}} {{ user.name }} {{scheduled_at|%F}}", "{{part}} {{ user.name }} {{scheduled_at|%F}}"),
        ] {
            assert_eq!(filled(text), expected, "{text}");
        }
    }

    #[test]
    fn an_instant_is_on_the_clock_of_the_workflows_schedule() {
        let template = Template::parse("{{workflow.scheduled_at}}", |_| None).unwrap();
        let input = WorkflowInput { zone: zone_data().zone("Europe/Berlin").unwrap(), ..INPUT };
        assert_eq!(template.fill(&input, |_| (None, NodeState::Waiting)), "2025-07-04T02:00:00+02:00");
    }

    #[test]
    fn a_value_is_not_read_for_placeholders() {
        let template = Template::parse("{{workflow.params}}", |_| None).unwrap();
        let input = WorkflowInput { params: "{{workflow.run_id}}", ..INPUT };
        assert_eq!(template.fill(&input, |_| (None, NodeState::Waiting)), "{{workflow.run_id}}");
    }

    #[test]
    fn each_wrong_placeholder_is_named() {
        let errors = |text: &str| Template::parse(text, |_| None).unwrap_err();
        let unknown = |name: &str| format!("a template cannot read `{name}`; allowed: {ALLOWED}");
        for name in ["workflow.param", "nodes.a.results", "node.a.result", "workflow", "workflow.run_id#/a"] {
            assert_eq!(errors(&format!("{{{{{name}}}}}")), [unknown(name)]);
        }
        assert_eq!(
            errors("{{nodes.a.state}} {{workflow.params#day}}"),
            [
                "the template names the node `a`, which does not exist",
                "`day` is not a path; write one such as /rows or /items/0, or an empty text"
            ]
        );
        assert_eq!(
            errors("{{workflow.scheduled_at|%Q}} {{workflow.scheduled_at||Mars}} {{workflow.scheduled_at|a|b|c}}"),
            [
                "`%Q` is no format; write one such as %Y-%m-%d, `s` or `ms`".to_owned(),
                "`Mars` is not a time zone; write an IANA name such as UTC or Asia/Shanghai".to_owned(),
                unknown("workflow.scheduled_at|a|b|c"),
            ]
        );
        assert_eq!(errors(&"{{workflow.run_id}}".repeat(101)), ["has 101 placeholders; at most 100 are allowed"]);
        assert_eq!(errors("\0"), ["must not contain the character NUL"]);
        assert_eq!(errors(&"x".repeat(65_537)), ["has 65537 bytes; at most 65536 (64 KiB) are allowed"]);
    }
}
