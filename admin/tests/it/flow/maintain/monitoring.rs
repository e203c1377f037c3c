//! The dashboard for Grafana and the rules for Prometheus name only metrics and labels that a node has.

use std::collections::{BTreeMap, BTreeSet};

use carillon_engine::runtime::Service as _;
use carillon_testkit::RecordingExecutor;
use serde_json::Value;

use crate::flow::node::{Node, on_node};

const DASHBOARD: &str = include_str!("../../../../docs/grafana/carillon.json");
const RULES: &str = include_str!("../../../../docs/prometheus/alerts.yml");
/// Labels that Prometheus adds.
const ADDED: [&str; 2] = ["instance", "job"];

/// Each metric in an answer of `/metrics`, with its labels.
fn exported(metrics: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap());
        let labels = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or("", |(labels, _)| labels);
        found.entry(name.to_owned()).or_default().extend(labels_of(labels));
    }
    found
}

/// The names in `a="x", b=~"y|z"`.
fn labels_of(selector: &str) -> BTreeSet<String> {
    // Every other part is between quotes.
    let outside = selector.split('"').step_by(2);
    let names = outside.map(|part| part.trim_matches([',', ' ', '=', '~', '!']).to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

/// What an expression names: metrics with the labels of their selectors, and the labels that it groups by.
fn named(expression: &str) -> (Vec<(String, BTreeSet<String>)>, BTreeSet<String>) {
    let mut metrics = vec![];
    for (at, _) in expression.match_indices("carillon_") {
        let rest = &expression[at..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let selector = rest[end..].strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or("", |(it, _)| it);
        metrics.push((rest[..end].to_owned(), labels_of(selector)));
    }
    let groups = expression.match_indices(" by (").flat_map(|(at, by)| {
        let list = expression[at + by.len()..].split(')').next().unwrap();
        list.split(',').map(|name| name.trim().to_owned()).collect::<Vec<_>>()
    });
    (metrics, groups.collect())
}

fn check(expression: &str, exported: &BTreeMap<String, BTreeSet<String>>) {
    let (metrics, groups) = named(expression);
    assert!(!metrics.is_empty(), "{expression} names no metric");
    let mut known: BTreeSet<String> = ADDED.iter().map(ToString::to_string).collect();
    for (name, labels) in metrics {
        let has = exported.get(&name).unwrap_or_else(|| panic!("no {name} in /metrics: {expression}"));
        assert!(labels.is_subset(has), "{name} has the labels {has:?}: {expression}");
        known.extend(has.iter().cloned());
    }
    assert!(groups.is_subset(&known), "{expression} groups by {groups:?} of {known:?}");
    let balanced = |open: char, close: char| expression.matches(open).count() == expression.matches(close).count();
    assert!(balanced('(', ')') && balanced('{', '}') && balanced('[', ']'), "{expression}");
}

/// The rules, each with its members. The file has one form: two levels of lists, and `>-` before a text of several lines.
fn rules() -> Vec<BTreeMap<String, String>> {
    let mut rules: Vec<BTreeMap<String, String>> = vec![];
    let mut open = None;
    for line in RULES.lines().filter(|line| !line.trim_start().starts_with('#') && !line.is_empty()) {
        let (indent, text) = (line.len() - line.trim_start().len(), line.trim_start());
        assert!(!line.contains('\t') && indent % 2 == 0, "{line}");
        if let Some(name) = text.strip_prefix("- alert: ") {
            rules.push(BTreeMap::from([("alert".to_owned(), name.to_owned())]));
            continue;
        }
        let Some(rule) = rules.last_mut().filter(|_| indent >= 8) else {
            assert!(["groups:", "rules:"].contains(&text) || text.starts_with("- name: "), "{line}");
            continue;
        };
        match (text.split_once(": "), &open) {
            (_, Some(name)) if indent > 8 && rule[name].starts_with(">-") => {
                let whole = format!("{} {text}", rule[name]);
                rule.insert(String::clone(name), whole);
            }
            (Some((name, value)), _) => {
                // A plain text may not hold what begins a member or a comment.
                assert!(!value.contains(": ") && !value.contains(" #"), "{line}");
                rule.insert(name.to_owned(), value.to_owned());
                open = Some(name.to_owned());
            }
            (None, _) => assert!(["labels:", "annotations:"].contains(&text), "{line}"),
        }
    }
    rules
}

/// A node of which everything that is named has happened.
async fn work(node: &Node) -> BTreeMap<String, BTreeSet<String>> {
    let job = node.every(1, |_| {}).await;
    node.renew_leases().await;
    node.scan().await;
    node.clock.advance(std::time::Duration::from_millis(3_500));
    node.scan().await;
    // Late runs wait: those are overdue.
    let before = exported(&node.metrics());
    let executor = RecordingExecutor::start().await;
    node.register(&executor).await;
    node.round().await;
    let runs = node.runs(&job).await;
    node.callback(&[(runs[0].id, 200, ""), (runs[1].id, 500, "no")]).await;
    node.clock.advance(std::time::Duration::from_secs(11));
    node.renew_leases().await;
    node.services.resolver.step().await;
    node.services.summarizer.step().await;
    node.clock.advance(std::time::Duration::from_secs(200));
    node.renew_leases().await;
    node.services.summarizer.step().await;
    let mut all = exported(&node.metrics());
    for (name, labels) in before {
        all.entry(name).or_default().extend(labels);
    }
    all
}

// covers: 001-49, 003-26
#[test]
fn dashboard_and_rules_name_what_a_node_exports() {
    on_node(async |node| {
        let exported = work(node).await;
        let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
        let panels = dashboard["panels"].as_array().unwrap();
        let mut places = BTreeSet::new();
        for panel in panels {
            assert!(panel["title"].is_string() && panel["type"] == "timeseries", "{panel}");
            assert!(places.insert((panel["gridPos"]["x"].as_i64(), panel["gridPos"]["y"].as_i64())), "{panel}");
            for target in panel["targets"].as_array().unwrap() {
                check(target["expr"].as_str().unwrap(), &exported);
            }
        }
        for variable in dashboard["templating"]["list"].as_array().unwrap() {
            if let Some(query) = variable["definition"].as_str() {
                let arguments = query.strip_prefix("label_values(").and_then(|it| it.strip_suffix(')')).unwrap();
                let (metric, label) = arguments.split_once(", ").unwrap();
                assert!(exported[metric].contains(label), "{query}");
            }
        }
        // Missed, late and in bursts: the three symptoms.
        for metric in ["fires_missed_total", "lateness_seconds_bucket", "app_burst_runs_total", "app_overdue_runs"] {
            assert!(DASHBOARD.contains(&format!("carillon_{metric}")), "{metric}");
        }
        let rules = rules();
        let mut names = BTreeSet::new();
        for rule in &rules {
            assert!(names.insert(&rule["alert"]), "{} is there twice", rule["alert"]);
            assert!(["critical", "warning"].contains(&rule["severity"].as_str()), "{rule:?}");
            assert!(rule["summary"].ends_with('.'), "{rule:?}");
            let expression = rule["expr"].trim_start_matches(">-");
            check(expression, &exported);
            let (_, groups) = named(expression);
            for label in rule["summary"].split("$labels.").skip(1).map(|rest| rest.split(' ').next().unwrap()) {
                assert!(groups.contains(label), "{rule:?}");
            }
        }
        assert_eq!(rules.len(), RULES.matches("- alert: ").count());
    });
}

#[test]
fn expressions_are_taken_apart() {
    let (metrics, groups) = named(r#"sum by (app, le) (rate(carillon_x_total{app=~"$app", state!="a,b"}[5m]))"#);
    let labels: Vec<&str> = metrics[0].1.iter().map(String::as_str).collect();
    assert_eq!((metrics[0].0.as_str(), labels), ("carillon_x_total", vec!["app", "state"]));
    assert_eq!(groups.into_iter().collect::<Vec<_>>(), ["app", "le"]);
}
