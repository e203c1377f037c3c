//! Two versions of a job, compared by the fields of its form: a new job beside the one that it is like, and two edits of one job. The form of an
//! edit carries a mark of each value that it was filled with, so that a late save can distinguish
//! the fields that its author changed: a field that they did not change keeps what the other person saved, also a pause.

use std::collections::HashMap;

use carillon_accounts::secret::hash;
use carillon_scheduler::Millis;

use crate::web::forms::form::Form;
use crate::web::forms::job_form::labels;
use crate::web::forms::{line_ends, moment};
use crate::web::locale::Language;

/// The form's field with those marks.
pub const SEEN: &str = "seen";

/// The marks of a form as it is filled from a job: `name:mark` for each field.
pub fn seen(filled: &Form) -> String {
    let marks = labels().into_iter().map(|(name, _)| format!("{name}:{}", mark(&compared(filled, name))));
    marks.collect::<Vec<_>>().join(" ")
}

/// What distinguishes two values: a local time may stand for two instants.
fn compared(form: &Form, name: &str) -> String {
    format!("{}{}", line_ends::plain(form.value(name)), form.was(name))
}

/// Long enough to distinguish two values; a whole value may have 64 KiB.
fn mark(value: &str) -> String {
    hash(value).chars().take(12).collect()
}

/// Of a new job that is like another one: the id of that one, and the mark of the differences that the form has shown.
pub const LIKE: &str = "like";
pub const UNLIKE: &str = "unlike";

/// A field with another value: the key of its label, the value in the original, the new one.
pub type Difference = (&'static str, String, String);

/// Where a new job differs from the one that it is like; both are filled from drafts.
pub fn differences(language: Language, new: &Form, original: &Form) -> Vec<Difference> {
    let differ = |(name, _): &(&str, &str)| compared(new, name) != compared(original, name);
    let values = |(name, label)| (label, shown(language, original, name), shown(language, new, name));
    labels().into_iter().filter(differ).map(values).collect()
}

/// What distinguishes two lists of differences.
pub fn mark_of(differences: &[Difference]) -> String {
    mark(&format!("{differences:?}"))
}

/// What others have saved since the form was opened.
pub struct Conflict {
    pub revision: i64,
    /// Who saved, and when. None: the audit does not have it.
    pub by: Option<(String, Millis)>,
    /// Fields that both have changed: the key of the label, theirs, ours. Saving again takes ours.
    pub both: Vec<(&'static str, String, String)>,
    /// Fields that only they have changed: the key of the label, as it was in our form, theirs. They stay.
    pub kept: Vec<(&'static str, String, String)>,
}

/// Brings what was saved meanwhile into the form. `ours` and `theirs` are filled from drafts, so that a field which is
/// absent and one that has its default are the same.
pub fn merge(language: Language, form: &mut Form, ours: &Form, theirs: &Form, revision: i64) -> Conflict {
    let seen = form.value(SEEN).to_owned();
    let seen: HashMap<&str, &str> = seen.split(' ').filter_map(|pair| pair.split_once(':')).collect();
    let mut conflict = Conflict { revision, by: None, both: vec![], kept: vec![] };
    for (name, label) in labels() {
        let (own, other) = (compared(ours, name), compared(theirs, name));
        if own == other {
            continue;
        }
        let shown = |form: &Form| shown(language, form, name);
        let is_as_seen = |value: &str| seen.get(name).map(|seen| *seen == mark(value));
        // A form without marks: every difference counts as its author's, except the switch that enables a job.
        let touched_here = !is_as_seen(&own).unwrap_or(name == "enabled");
        let touched_there = !is_as_seen(&other).unwrap_or(false);
        match (touched_here, touched_there) {
            (true, true) => conflict.both.push((label, shown(theirs), shown(ours))),
            (true, false) => {}
            (false, _) => {
                conflict.kept.push((label, shown(ours), shown(theirs)));
                form.set(name, theirs.value(name));
                form.set(&moment::was(name), theirs.was(name));
            }
        }
    }
    form.set(SEEN, self::seen(theirs));
    conflict
}

fn shown(language: Language, form: &Form, name: &str) -> String {
    match (name, form.value(name)) {
        ("enabled", "yes") => language.text("yes").to_string(),
        ("enabled", _) => language.text("no").to_string(),
        ("runs", "http") => language.text("job-runs-http").to_string(),
        ("runs", "workflow") => language.text("job-runs-workflow").to_string(),
        ("runs", _) => language.text("job-runs-handler").to_string(),
        ("workflow", text) => text.to_owned(),
        ("children", _) => {
            let ids: Vec<String> = form.items(name).iter().map(|id| format!("#{id}")).collect();
            ids.join(", ")
        }
        _ => form.items(name).join(", "),
    }
}
