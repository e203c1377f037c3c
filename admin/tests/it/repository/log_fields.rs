//! Compares the fields of log lines with the table of `admin/docs/observability.md`.

use std::collections::BTreeSet;

use super::sources::{PRODUCT, files};

const DOCUMENT: &str = include_str!("../../../docs/observability.md");
const EVENTS: &[&str] = &["trace!(", "debug!(", "info!(", "warn!(", "error!("];
const SPANS: &[&str] = &["trace_span!(", "debug_span!(", "info_span!(", "warn_span!(", "error_span!("];

/// The fields of all events and spans of a source text.
fn fields(text: &str) -> BTreeSet<String> {
    let calls = |starts: &[&str]| -> Vec<Vec<String>> {
        let found =
            starts.iter().flat_map(|start| text.match_indices(&format!("tracing::{start}")).collect::<Vec<_>>());
        found.map(|(at, start)| arguments(&text[at + start.len()..])).collect()
    };
    // An event's fields come before its message, those of a span after its name.
    let events = calls(EVENTS).into_iter().flat_map(|all| all.into_iter().take_while(|it| !it.starts_with('"')));
    let spans = calls(SPANS).into_iter().flat_map(|all| all.into_iter().skip_while(|it| !it.starts_with('"')).skip(1));
    let attributes = text.split("instrument(").skip(1).flat_map(arguments);
    let attributes = attributes.filter_map(|it| it.strip_prefix("fields(").map(arguments)).flatten();
    let name = |argument: String| {
        argument.split('=').next().unwrap_or_default().trim().trim_start_matches(['%', '?']).to_owned()
    };
    events.chain(spans).chain(attributes).map(name).collect()
}

/// The arguments of a call, from behind its opening bracket.
fn arguments(text: &str) -> Vec<String> {
    let (mut found, mut start, mut depth, mut in_string, mut escaped) = (vec![], 0, 0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '(' | '[' | '{' => depth += 1,
            ',' | ')' if depth == 0 => {
                found.push(text[start..at].trim().to_owned());
                start = at + 1;
                if c == ')' {
                    break;
                }
            }
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
    }
    found.retain(|argument| !argument.is_empty());
    found
}

#[test]
fn the_document_lists_each_log_field() {
    let (_, table) = DOCUMENT.split_once("## Log fields").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let documented: Vec<&str> = rows.map(|(name, _)| name).collect();
    let sources: Vec<String> = PRODUCT.iter().flat_map(|folder| files(folder).into_values()).collect();
    let used: BTreeSet<String> = sources.iter().flat_map(|text| fields(text)).collect();
    assert_eq!(documented, used.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn log_lines_are_written_where_the_check_finds_them() {
    for folder in PRODUCT {
        for (path, text) in files(folder) {
            assert!(
                !text.contains("use tracing::"),
                "{folder}/{path} writes log lines without `tracing::` before the macro"
            );
        }
    }
}

#[test]
fn fields_are_found_in_events_spans_and_attributes() {
    let text = r#"
        tracing::warn!(a.id = f(x, "y, z"), %error, ?b, "text {c}: {}", d);
        tracing::info!("only text, no = field");
        let span = tracing::debug_span!("name", run.id = 1, e = tracing::field::Empty);
        #[tracing::instrument(level = "debug", skip_all, fields(job.id = self.id, shard))]
    "#;
    let found = fields(text);
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        ["a.id", "b", "e", "error", "job.id", "run.id", "shard"]
    );
}
