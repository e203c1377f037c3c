//! All figures in one line.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::verdict::Verdict;
use crate::check::{Figure, Findings};
use crate::record::History;

pub fn line(history: &History, findings: &Findings, verdict: &Verdict) -> anyhow::Result<String> {
    let meta = &history.meta;
    let mut all = Map::new();
    all.insert("seed".into(), json!(meta.seed));
    all.insert("db".into(), json!(meta.db));
    all.insert("control".into(), json!(meta.control));
    all.insert("seconds".into(), json!(meta.seconds));
    all.insert("versions".into(), json!(meta.versions));
    all.insert("load_average".into(), json!(meta.load));
    all.insert("faults".into(), json!(by_name(history)));
    for (name, total) in &findings.totals {
        all.insert((*name).into(), json!(total));
    }
    for figure in Figure::ALL {
        all.insert(figure.name(), json!(findings.count(figure)));
    }
    all.insert("logged".into(), json!(meta.logged));
    all.insert("skipped".into(), json!(findings.skipped));
    all.insert("lateness".into(), serde_json::to_value(&findings.times)?);
    if !findings.unknown_outcomes.is_empty() {
        all.insert("unknown_outcomes".into(), json!(findings.unknown_outcomes));
    }
    let exits: Vec<String> =
        history.exits.iter().map(|exit| format!("{}: {} after {}", exit.process, exit.how, exit.why)).collect();
    all.insert("exits".into(), json!(exits));
    all.insert("passed".into(), json!(verdict.is_passed()));
    all.insert("reasons".into(), json!(verdict.reasons));
    Ok(serde_json::to_string(&Value::Object(all))?)
}

pub fn by_name(history: &History) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for fault in &history.faults {
        *counts.entry(&*fault.name).or_default() += 1;
    }
    counts
}
