//! Secrets in the parameters of a job: `{{secret.NAME}}`, as in the requests of HTTP jobs. They are replaced when a run is sent, and nowhere else:
//! what is stored, shown or compared has their names.
//!
//! They count in the parameters that a job was saved with, and in what the server repeats of them. In other texts, such as those of a
//! trigger or a result, they are no placeholders: anyone could read a secret by sending its name.

use std::collections::{BTreeMap, BTreeSet};

use super::draft::JobDraft;
use super::http::{Escape, check_secret_name};
use super::placeholders::{
    Piece, PlaceholderValues, RunPlaceholder, may_hold_placeholders, pieces_of, run_placeholder,
};
use crate::field_error::FieldError;

/// Maximum number of bytes of a placeholder.
const PLACEHOLDER_BYTES: usize = 160;
/// Maximum number of secrets in one text.
const MOST: usize = 20;
const PREFIX: &str = "secret.";
const IN_REQUEST: &str = "names a secret; an HTTP job names its secrets in its request";
const IN_WORKFLOW: &str = "names a secret; in a workflow the job of a node names it, in its own parameters";
const IN_PARTS: &str = "names a secret; only the parameters of the whole job may";

enum Source<'a> {
    Run(RunPlaceholder<'a>),
    Secret(Result<&'a str, String>),
}

/// The names of the secrets in a text.
pub fn secrets_in(text: &str) -> BTreeSet<&str> {
    if !text.contains(PREFIX) {
        return BTreeSet::new();
    }
    let names = sources(text).filter_map(|piece| match piece {
        Piece::Placeholder(Source::Secret(Ok(name)), _) => Some(name),
        _ => None,
    });
    names.collect()
}

/// Checks the placeholders of secrets in a text.
///
/// # Errors
/// Says what is wrong in the first one that is, or that there are too many.
pub fn check_secrets(text: &str) -> Result<(), String> {
    let mut count = 0;
    for piece in sources(text) {
        if let Piece::Placeholder(Source::Secret(name), _) = piece {
            name?;
            count += 1;
        }
    }
    match count {
        0..=MOST => Ok(()),
        _ => Err(format!("has {count} placeholders of secrets; at most {MOST} are allowed")),
    }
}

/// The parameters of a run with all placeholders replaced. In parameters that begin as an object or a list of JSON the secrets are escaped as
/// within a text of JSON.
///
/// # Errors
/// The name of a secret that is not among these.
pub fn fill_with_secrets(
    text: &str,
    values: &PlaceholderValues,
    secrets: &BTreeMap<String, String>,
) -> Result<String, String> {
    let escape = if begins_as_json(text) { Escape::Json } else { Escape::None };
    let mut filled = String::with_capacity(text.len());
    for piece in sources(text) {
        match piece {
            Piece::Text(text) | Piece::Placeholder(Source::Secret(Err(_)), text) => filled.push_str(text),
            Piece::Placeholder(Source::Run(placeholder), written) => {
                filled.push_str(&placeholder.param_value(values).unwrap_or_else(|| written.to_owned()));
            }
            Piece::Placeholder(Source::Secret(Ok(name)), _) => {
                let secret = secrets.get(name).ok_or_else(|| name.to_owned())?;
                filled.push_str(&escape.apply(secret.clone()));
            }
        }
    }
    Ok(filled)
}

/// Two braces begin a placeholder, and no value of JSON.
fn begins_as_json(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('[') || text.starts_with('{') && !text.starts_with("{{")
}

fn sources(text: &str) -> impl Iterator<Item = Piece<'_, Source<'_>>> {
    pieces_of(text, PLACEHOLDER_BYTES, source)
}

/// None: it is no placeholder of ours.
fn source(inner: &str) -> Option<Source<'_>> {
    if let Some(placeholder) = run_placeholder(inner) {
        return Some(Source::Run(placeholder));
    }
    let name = inner.trim().strip_prefix(PREFIX)?;
    Some(Source::Secret(check_secret_name(name).map(|()| name)))
}

/// Whether a text names a secret.
pub fn names_secrets(text: &str) -> bool {
    may_hold_placeholders(text) && !secrets_in(text).is_empty()
}

impl JobDraft {
    /// The names of the secrets that its parameters need; those of its request are not among them.
    pub fn secret_names(&self) -> BTreeSet<&str> {
        match self.http.is_some() || self.workflow.is_some() {
            true => BTreeSet::new(),
            false => secrets_in(&self.params),
        }
    }

    /// What is wrong with the placeholders of secrets, or with their places: elsewhere they would be sent as they are written.
    pub(super) fn secret_faults(&self) -> Vec<FieldError> {
        let mut faults = vec![];
        let mut refuse = |field: &str, text: &str, why: &str| {
            if names_secrets(text) {
                faults.push(FieldError::new(field, why.to_owned()));
            }
        };
        if self.http.is_some() {
            refuse("params", &self.params, IN_REQUEST);
        }
        if let Some(workflow) = &self.workflow {
            refuse("params", &self.params, IN_WORKFLOW);
            for (name, node) in &workflow.nodes {
                let params = node.params.as_deref().unwrap_or_default();
                refuse(&format!("workflow.nodes.{name}.params"), params, IN_WORKFLOW);
            }
        }
        for text in self.parts.texts().into_iter().flatten() {
            refuse("parts", text, IN_PARTS);
        }
        if let Err(why) = check_secrets(&self.params) {
            faults.push(FieldError::new("params", why));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{HttpDraft, Parts};
    use crate::zone::Zone;

    fn fill(text: &str) -> Result<String, String> {
        let values = PlaceholderValues {
            scheduled_at: 0,
            zone: Zone::UTC,
            run_id: 4711,
            job_id: 7,
            attempt: 1,
            part: 0,
            parts: 1,
        };
        let secrets = BTreeMap::from([("KEY".to_owned(), "a\"b {{run_id}}".to_owned())]);
        fill_with_secrets(text, &values, &secrets)
    }

    // covers: 001-44
    #[test]
    fn a_secret_stands_where_it_is_named_and_is_not_read_again() {
        for (text, filled) in [
            ("{{run_id}} {{secret.KEY}}", "4711 a\"b {{run_id}}"),
            ("{{ secret.KEY }}", "a\"b {{run_id}}"),
            (r#"{"key": "{{secret.KEY}}"}"#, r#"{"key": "a\"b {{run_id}}"}"#),
            (r#" ["{{secret.KEY}}"]"#, r#" ["a\"b {{run_id}}"]"#),
            (
                "{{secret}} {{secret.}} {{ no.such }} {{scheduled_at|%Q}}",
                "{{secret}} {{secret.}} {{ no.such }} {{scheduled_at|%Q}}",
            ),
        ] {
            assert_eq!(fill(text).as_deref(), Ok(filled), "{text}");
        }
        assert_eq!(fill("{{secret.KEY}} {{secret.OTHER}}"), Err("OTHER".to_owned()));
    }

    // covers: 001-44
    #[test]
    fn a_secret_is_refused_where_it_would_not_be_replaced() {
        let named = JobDraft { params: "{{secret.KEY}}".into(), ..JobDraft::new("a", "b", "c") };
        assert!(named.secret_faults().is_empty() && named.secret_names().contains("KEY"));
        let faults = |draft: &JobDraft| draft.secret_faults().iter().map(ToString::to_string).collect::<Vec<_>>();
        let http = JobDraft { http: Some(HttpDraft::new("http://a/")), ..named.clone() };
        assert_eq!(faults(&http), ["params: names a secret; an HTTP job names its secrets in its request"]);
        assert!(http.secret_names().is_empty());
        let parts = Parts::Each(vec!["1".into(), "{{secret.KEY}}".into()]);
        let split = JobDraft { parts, params: String::new(), ..named.clone() };
        assert_eq!(faults(&split), ["parts: names a secret; only the parameters of the whole job may"]);
        let nodes = serde_json::json!({"nodes": {"x": {"job": 1, "params": "{{secret.KEY}}"}}});
        let workflow = Some(serde_json::from_value(nodes).unwrap());
        let workflow = JobDraft { workflow, params: String::new(), ..named.clone() };
        let why = "names a secret; in a workflow the job of a node names it, in its own parameters";
        assert_eq!(faults(&workflow), [format!("workflow.nodes.x.params: {why}")]);
        let wrong = JobDraft { params: "{{secret.}}".into(), ..named };
        assert!(faults(&wrong)[0].starts_with("params: `` is no name of a secret"), "{:?}", faults(&wrong));
    }

    // covers: 001-44
    #[test]
    fn names_are_found_and_checked() {
        let text = "{{secret.KEY}} {{ secret.other-1 }} {{secret.KEY}} secret.NONE {{run_id}}";
        assert_eq!(secrets_in(text).into_iter().collect::<Vec<_>>(), ["KEY", "other-1"]);
        assert!(names_secrets(text) && !names_secrets("secret.KEY {{run_id}}"));
        assert_eq!(check_secrets(text), Ok(()));
        let wrong = check_secrets("{{secret.1 x}}").unwrap_err();
        assert!(wrong.starts_with("`1 x` is no name of a secret"), "{wrong}");
        let many = check_secrets(&"{{secret.KEY}}".repeat(21)).unwrap_err();
        assert_eq!(many, "has 21 placeholders of secrets; at most 20 are allowed");
    }
}
