//! A plan for people and for programs.

use std::fmt;

use serde_json::{Map, Value, json};

use super::change::{AppChange, Change, JobChange, LimitChange, Plan};
use super::diff::{Difference, difference};
use super::instants::InstantChange;
use crate::document::limit_without_defaults;

/// Characters of a value that are shown.
const SHOWN: usize = 200;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for app in &self.apps {
            write_app(f, app)?;
        }
        for limit in &self.limits {
            write_limit(f, limit)?;
        }
        for job in self.jobs() {
            write_job(f, job)?;
        }
        if self.unchanged > 0 {
            writeln!(f, "= {} without a change", jobs(self.unchanged))?;
        }
        for reference in &self.left_over {
            writeln!(f, "  {reference} is not in the files and stays; --prune deletes it")?;
        }
        for (reference, note) in &self.paused {
            writeln!(f, "  {reference} is paused and stays so {note}")?;
        }
        Ok(())
    }
}

fn jobs(count: usize) -> String {
    match count {
        1 => "1 job".to_owned(),
        count => format!("{count} jobs"),
    }
}

fn write_app(f: &mut fmt::Formatter<'_>, app: &AppChange) -> fmt::Result {
    let sign = if app.id.is_some() { '~' } else { '+' };
    match &app.title {
        Some(title) => writeln!(f, "{sign} app {}: {title}", app.name),
        None => writeln!(f, "{sign} app {}", app.name),
    }
}

fn write_job(f: &mut fmt::Formatter<'_>, job: &JobChange) -> fmt::Result {
    writeln!(f, "{} {}: {}", job.change.sign(), job.reference, job.name)?;
    if let (Change::Create, Some(entry)) = (job.change, &job.entry) {
        let mut members = crate::export::without_defaults(&entry.draft);
        members.retain(|member, _| !matches!(&member[..], "app" | "key" | "name" | "set"));
        // A graph or a request may be long: a line for each node or member.
        let apart = ["http", "workflow"].map(|member| members.remove_entry(member));
        for (member, value) in &members {
            writeln!(f, "    + {member}: {}", shown(value))?;
        }
        for added in difference(&Map::new(), &apart.into_iter().flatten().collect()) {
            writeln!(f, "    + {}: {}", added.member, shown(&added.after))?;
        }
    }
    write_differences(f, &job.differences)?;
    match &job.instants {
        Some(instants) if !instants.is_empty() => write_instants(f, instants),
        _ => Ok(()),
    }
}

fn write_limit(f: &mut fmt::Formatter<'_>, limit: &LimitChange) -> fmt::Result {
    let sign = if limit.before.is_some() { '~' } else { '+' };
    writeln!(f, "{sign} {}", limit.entry.reference())?;
    if limit.before.is_none() {
        let mut members = limit_without_defaults(&limit.entry.draft);
        members.retain(|member, _| !matches!(&member[..], "app" | "name"));
        for (member, value) in &members {
            writeln!(f, "    + {member}: {}", shown(value))?;
        }
    }
    write_differences(f, &limit.differences)
}

fn write_differences(f: &mut fmt::Formatter<'_>, differences: &[Difference]) -> fmt::Result {
    for difference in differences {
        let (before, after) = (&difference.before, &difference.after);
        match (before.is_null(), after.is_null()) {
            (true, _) => writeln!(f, "    + {}: {}", difference.member, shown(after))?,
            (_, true) => writeln!(f, "    - {}: {}", difference.member, shown(before))?,
            _ => writeln!(f, "    ~ {}: {} → {}", difference.member, shown(before), shown(after))?,
        }
    }
    Ok(())
}

fn write_instants(f: &mut fmt::Formatter<'_>, change: &InstantChange) -> fmt::Result {
    let more = if change.is_cut { " or more" } else { "" };
    let mut line = |count: usize, what: &str, first: &[String]| match count {
        0 => Ok(()),
        count => {
            let rest = if count > first.len() { ", …" } else { "" };
            let noun = if count == 1 { "instant" } else { "instants" };
            writeln!(f, "    7 days: {count}{more} {noun} {what}: {}{rest}", first.join(", "))
        }
    };
    line(change.disappear, "disappear", &change.first_disappear)?;
    line(change.appear, "appear", &change.first_appear)
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Plan {
    /// As `--output json` prints it.
    pub fn to_json(&self) -> Value {
        let job = |job: &JobChange| {
            json!({
                "change": job.change,
                "job": job.reference.to_string(),
                "name": job.name,
                "id": job.before.map(|(id, _)| id),
                "differences": job.differences,
                "instants": job.instants,
            })
        };
        let limit = |limit: &LimitChange| {
            json!({
                "change": if limit.before.is_some() { Change::Update } else { Change::Create },
                "app": limit.entry.draft.app,
                "name": limit.entry.draft.name,
                "id": limit.before.map(|(id, _)| id),
                "differences": limit.differences,
            })
        };
        let names = |references: Vec<String>| json!(references);
        json!({
            "apps": self.apps,
            "limits": self.limits.iter().map(limit).collect::<Vec<_>>(),
            "jobs": self.jobs().map(job).collect::<Vec<_>>(),
            "unchanged": self.unchanged,
            "left_over": names(self.left_over.iter().map(ToString::to_string).collect()),
            "paused": names(self.paused.iter().map(|(reference, _)| reference.to_string()).collect()),
        })
    }
}
