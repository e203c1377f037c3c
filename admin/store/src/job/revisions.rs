//! The definitions that a job has had, each with what it changed: to look at, and to go back to. The audit keeps long parameters and long lists of
//! parts by their beginning; the change that replaces them keeps them whole, under the last revision that had them, as long as the audit reaches
//! back.

use carillon_scheduler::{FieldError, JobDraft, Millis, Parts};
use serde_json::{Map, Value, json};

use crate::audit::entry::difference;
use crate::db::pool::transaction::Transaction;
use crate::error::{Error, Result};
use crate::job::audit_snapshot::{STORED_APART, is_short_list, is_short_text, short_params, short_parts};
use crate::job::history::{Change, CurrentDefinition, undo};
use crate::job::stored_job::Job;
use crate::retention::prune_rest::AUDIT_MS;
use crate::views::{JobStore, RetentionStore};

/// Long texts of former definitions that a job has at most, of each kind. The newest stay.
const MOST_TEXTS: usize = 100;
/// Texts that are looked up at once to be pruned.
const AT_ONCE: usize = 1_000;

/// A change of a job, and the definition that it made.
#[derive(Clone, Debug, PartialEq)]
pub struct Revision {
    /// None: the entry does not say it; it was written before revisions were recorded.
    pub number: Option<i64>,
    pub change: Change,
    /// The members that it changed, as they were and as they became.
    pub before: Value,
    pub after: Value,
    /// The whole definition. None: a later change has left no entry, so it is not known.
    members: Option<Map<String, Value>>,
}

impl Revision {
    pub fn is_known(&self) -> bool {
        self.members.is_some()
    }

    /// The name of the app that it belonged to.
    fn app(&self) -> Option<&str> {
        self.members.as_ref()?.get("app")?.as_str()
    }

    /// What the job would change if it had this definition again: the members `before`, as they are, and `after`. None: the
    /// definition is not known.
    pub fn difference_from(&self, job: &Job) -> Option<Value> {
        let restored = |members: &Map<String, Value>| {
            let members =
                members.iter().filter(|(name, _)| *name != "enabled" && !STORED_APART.contains(&name.as_str()));
            members.map(|(name, value)| (name.clone(), value.clone())).collect::<Map<_, _>>()
        };
        let then = restored(self.members.as_ref()?);
        Some(difference(&restored(&CurrentDefinition::of(job).members).into(), &then.into()))
    }
}

impl JobStore<'_> {
    /// The changes of a job, the newest first, as far as the audit reaches; at most a thousand. It ends where the job came from an
    /// app that is not among `apps`; None: all apps may be seen.
    pub async fn revisions(self, job: &Job, apps: Option<&[String]>) -> Result<Vec<Revision>> {
        let now = CurrentDefinition::of(job);
        let (mut members, mut number) = (now.members, now.revision);
        let mut revisions = vec![];
        for line in self.changes_since(job.id, 0).await? {
            // Another change has left no line: from here on nothing is known.
            number = number.filter(|_| line.revision() == number);
            let revision = Revision {
                number: line.revision(),
                change: line.change.clone(),
                before: line.detail["before"].clone(),
                after: line.detail["after"].clone(),
                members: number.map(|_| members.clone()),
            };
            let is_visible = |name: &str| apps.is_none_or(|apps| apps.iter().any(|app| app == name));
            let app_before = line.detail["before"]["app"].as_str().filter(|name| !is_visible(name));
            let is_hidden = match revision.app() {
                Some(name) => !is_visible(name),
                None => apps.is_some(),
            };
            if is_hidden {
                break;
            }
            revisions.push(revision);
            if let (Some(_), Some(last)) = (app_before, revisions.last_mut()) {
                last.before = Value::Null;
                break;
            }
            undo(&mut members, &line.detail);
            number = number.map(|number| number - 1);
        }
        Ok(revisions)
    }

    /// A former definition, to be given to the job as it is now: whether its schedule fires stays as it is.
    ///
    /// # Errors
    /// `Invalid`: a member has a form that this version does not know, or is not on record any more.
    pub async fn former_draft(self, job: &Job, revision: &Revision) -> Result<JobDraft> {
        let (Some(mut members), Some(number)) = (revision.members.clone(), revision.number) else {
            return Err(wrong("revision", "it is not known any more: a later change has left no entry"));
        };
        members.retain(|name, _| !STORED_APART.contains(&name.as_str()));
        members.insert("enabled".to_owned(), job.draft.enabled.into());
        if let Some(kept) = members.get("parts").filter(|kept| is_short_list(kept)) {
            let found = self.parts_at(job, number).await?;
            let found = found.filter(|found| is_beginning_of(&kept[0], &json!(short_parts(found))[0]));
            let parts =
                found.ok_or_else(|| wrong("parts", "only the beginning of this former list of parts is kept"))?;
            members.insert("parts".to_owned(), json!(parts));
        }
        if let Some(kept) = members.get("params").filter(|kept| is_short_text(kept)) {
            let found = self.runs().params_at(job.id, number).await?;
            let found = found.filter(|found| is_beginning_of(kept, &json!(short_params(found))));
            let params =
                found.ok_or_else(|| wrong("params", "only the beginning of these former parameters is kept"))?;
            members.insert("params".to_owned(), params.into());
        }
        serde_json::from_value(members.into()).map_err(|error| {
            let text = error.to_string();
            let field = text.split('`').nth(1).unwrap_or("definition");
            wrong(field, &text)
        })
    }

    /// The list of parts of a job under a revision for which the audit keeps only its beginning: the one that was replaced next after it, or
    /// else the present one.
    async fn parts_at(self, job: &Job, revision: i64) -> Result<Option<Parts>> {
        let text = "SELECT params FROM job_part_history WHERE job_id = ? AND revision >= ? ORDER BY revision LIMIT 1";
        let found: Option<String> = self.tuple(&self.read, text, values![job.id, revision]).await?;
        Ok(match found {
            Some(texts) => serde_json::from_str(&texts).ok().map(Parts::Each),
            None => Some(job.draft.parts.clone()),
        })
    }

    /// Keeps a list of parts that is about to be replaced, if the audit does not keep it whole.
    pub(crate) async fn keep_parts(self, tx: &Transaction, old: &Job, now: Millis) -> Result<()> {
        let parts = &old.draft.parts;
        if short_parts(parts).as_ref() == parts {
            return Ok(());
        }
        let row = values![old.id, old.revision, json!(parts.texts()).to_string(), now];
        self.insert_rows(tx, "job_part_history", "job_id, revision, params, replaced_at", vec![row]).await
    }
}

impl RetentionStore<'_> {
    /// Deletes long texts of former definitions that the audit does not reach any more, or of which the job has had many since; answers how
    /// many. Parameters go with the last run that was sent with them. It reads a row for each such text: once a day is enough.
    pub async fn prune_former_texts(self, now: Millis) -> Result<u64> {
        let before = now - AUDIT_MS;
        let forget = "UPDATE job_params_history SET replaced_at = 0 WHERE job_id = ? AND revision = ?";
        self.prune_former("job_params_history", forget, before).await?;
        let delete = "DELETE FROM job_part_history WHERE job_id = ? AND revision = ?";
        self.prune_former("job_part_history", delete, before).await
    }

    async fn prune_former(self, table: &str, prune: &str, before: Millis) -> Result<u64> {
        let text = format!(
            "SELECT former.job_id, former.revision FROM (SELECT job_id, revision, replaced_at, \
             ROW_NUMBER() OVER (PARTITION BY job_id ORDER BY revision DESC) AS place FROM {table} WHERE replaced_at > 0) AS former \
             WHERE former.place > {MOST_TEXTS} OR former.replaced_at < ? \
             OR NOT EXISTS (SELECT 1 FROM job WHERE job.id = former.job_id) LIMIT {AT_ONCE}"
        );
        let mut done = 0;
        loop {
            let found: Vec<(i64, i64)> = self.tuples(&self.write, &text, values![before]).await?;
            for (job_id, revision) in &found {
                done += self.execute(&self.write, prune, values![*job_id, *revision]).await?;
            }
            if found.len() < AT_ONCE {
                return Ok(done);
            }
            tokio::task::yield_now().await;
        }
    }
}

fn wrong(field: &str, message: &str) -> Error {
    Error::Invalid(FieldError::new(field, message))
}

/// Whether this is what the audit keeps of a text. Entries of earlier versions have no digest.
fn is_beginning_of(kept: &Value, short: &Value) -> bool {
    match (kept.as_str(), short.as_str()) {
        (Some(kept), Some(short)) => kept == short || short.starts_with(&format!("{}, ", kept.trim_end_matches(')'))),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: 001-16
    #[test]
    fn a_text_that_differs_late_is_not_the_one_that_was_kept() {
        let text = |end: char| format!("{}{end}", "é".repeat(2_000));
        let short = |text: &str| json!(short_params(text));
        assert_ne!(short(&text('a')), short(&text('b')), "with the same beginning and length");
        assert!(is_beginning_of(&short(&text('a')), &short(&text('a'))));
        assert!(!is_beginning_of(&short(&text('a')), &short(&text('b'))));
        let earlier = json!(format!("{}… (4001 bytes)", "é".repeat(1_000)));
        assert!(is_beginning_of(&earlier, &short(&text('a'))), "of an earlier version");
        assert!(!is_beginning_of(&earlier, &short(&format!("{}a", "é".repeat(3_000)))));
        assert!(!is_short_text(&json!("a".repeat(1_000))) && is_short_text(&short(&text('a'))));
    }
}
