//! The child jobs of a form: chosen by name, posted and stored by id.

use carillon_scheduler::JobDraft;
use carillon_store::{Job, JobFilter, Store, VisibleApps};

use crate::web::forms::form::Form;
use crate::web::locale::Language;

/// The form's fields and the keys of their labels: the chosen ids, and a name that is to be added to them.
pub const LABELS: &[(&str, &str)] = &[("children", "child-jobs"), (NAME, "child-jobs")];

const NAME: &str = "child_name";
/// Jobs that are offered while a name is typed: an installation may have 10,000.
const OFFERED: u32 = 50;
/// Jobs of one name that an error lists.
const LISTED: u32 = 8;

/// A job as a form shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildJob {
    pub id: i64,
    /// None: there is no such job, or the viewer may not see it.
    pub job: Option<(String, String)>,
}

impl ChildJob {
    /// `Settle (orders #12)`: the same text chooses the job.
    pub fn label(&self, language: &Language) -> String {
        match &self.job {
            Some((name, app)) => format!("{name} ({app} #{})", self.id),
            None => language.text("job-hidden").with("id", self.id).to_string(),
        }
    }
}

impl From<Job> for ChildJob {
    fn from(job: Job) -> Self {
        Self { id: job.id, job: Some((job.draft.name, job.draft.app)) }
    }
}

pub fn fill(form: Form, draft: &JobDraft) -> Form {
    let ids: Vec<String> = draft.children.iter().map(i64::to_string).collect();
    form.with("children", ids.join("\n"))
}

/// The chosen ids.
pub fn children(form: &mut Form) -> Vec<i64> {
    match form.items("children").iter().map(|id| id.parse()).collect() {
        Ok(ids) => ids,
        Err(_) => {
            form.add_error("children", "holds something that is not the id of a job");
            vec![]
        }
    }
}

/// The jobs of these ids, in their order.
///
/// # Errors
/// The database could not be asked.
pub async fn by_id(store: &Store, ids: &[i64], apps: &VisibleApps) -> carillon_store::Result<Vec<ChildJob>> {
    if ids.is_empty() {
        return Ok(vec![]);
    }
    let filter = JobFilter { apps: apps.clone(), ids: ids.to_vec(), limit: 1000, ..JobFilter::default() };
    let mut found: Vec<ChildJob> = store.jobs().list(&filter).await?.items.into_iter().map(ChildJob::from).collect();
    let missing = ids.iter().filter(|id| !found.iter().any(|job| job.id == **id));
    let missing: Vec<ChildJob> = missing.map(|id| ChildJob { id: *id, job: None }).collect();
    found.extend(missing);
    found.sort_by_key(|job| ids.iter().position(|id| *id == job.id));
    Ok(found)
}

/// The jobs that have this one as a child. Those that the viewer may not see are there with their ids alone.
///
/// # Errors
/// The database could not be asked.
pub async fn parents(store: &Store, id: i64, apps: &VisibleApps) -> carillon_store::Result<Vec<ChildJob>> {
    by_id(store, &store.jobs().parents_of(&[id]).await?, apps).await
}

/// Jobs to choose from: of this app, whose name or handler has this text; the newest ones.
///
/// # Errors
/// The database could not be asked.
pub async fn offered(
    store: &Store,
    app: &str,
    text: &str,
    apps: &VisibleApps,
) -> carillon_store::Result<Vec<ChildJob>> {
    let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    let filter =
        JobFilter { apps: apps.clone(), app: given(app), text: given(text), limit: OFFERED, ..JobFilter::default() };
    Ok(store.jobs().list(&filter).await?.items.into_iter().map(ChildJob::from).collect())
}

/// Adds the job whose name was typed to the chosen ones. A name that no job has, or several, stays with its error.
///
/// # Errors
/// The database could not be asked.
pub async fn add_named(store: &Store, form: &mut Form, apps: &VisibleApps) -> carillon_store::Result<()> {
    let text = form.value(NAME).trim().to_owned();
    if text.is_empty() {
        return Ok(());
    }
    match find(store, form.value("app"), &text, apps).await? {
        Ok(id) => {
            let mut ids = form.items("children");
            if !ids.contains(&id.to_string()) {
                ids.push(id.to_string());
            }
            form.set("children", ids.join("\n"));
            form.set(NAME, "");
        }
        Err(message) => form.add_error(NAME, message),
    }
    Ok(())
}

/// The id that a filter names, by the name of the job or by `12` or `#12`. An id may be that of a deleted job. The inner error says
/// why there is none.
///
/// # Errors
/// The database could not be asked.
pub async fn filtered(
    store: &Store,
    app: &str,
    text: &str,
    apps: &VisibleApps,
) -> carillon_store::Result<Result<i64, String>> {
    match text.strip_prefix('#').unwrap_or(text).parse() {
        Ok(id) => Ok(Ok(id)),
        Err(_) => find(store, app, text, apps).await,
    }
}

/// The text of a filter with the id of a job in place of its name. One that names no job, or several, stays as it is.
///
/// # Errors
/// The database could not be asked.
pub async fn with_id(store: &Store, app: &str, text: &str, apps: &VisibleApps) -> carillon_store::Result<String> {
    let id = match text.trim() {
        "" => None,
        name => filtered(store, app, name, apps).await?.ok(),
    };
    Ok(id.map_or_else(|| text.to_owned(), |id: i64| id.to_string()))
}

/// By its name within the app, by its name anywhere, or by its id as the list shows it.
async fn find(store: &Store, app: &str, text: &str, apps: &VisibleApps) -> carillon_store::Result<Result<i64, String>> {
    let any = JobFilter { apps: apps.clone(), name: Some(text.to_owned()), limit: LISTED, ..JobFilter::default() };
    let of_app = JobFilter { app: Some(app.to_owned()), ..any.clone() };
    let mut found = store.jobs().list(&of_app).await?.items;
    if found.is_empty() {
        found = store.jobs().list(&any).await?.items;
    }
    if found.is_empty()
        && let Some(id) = id_of(text)
    {
        let one = JobFilter { apps: apps.clone(), ids: vec![id], limit: 1, ..JobFilter::default() };
        let job = store.jobs().list(&one).await?.items.pop();
        return Ok(job.map(|job| job.id).ok_or_else(|| format!("There is no job #{id}.")));
    }
    Ok(match found.as_slice() {
        [] => Err(format!("No job is called “{text:.64}”. Choose one from the list, or write its id as #12.")),
        [job] => Ok(job.id),
        several => {
            let ids: Vec<String> = several.iter().map(|job| format!("#{} ({})", job.id, job.draft.app)).collect();
            Err(format!("Several jobs are called “{text:.64}”. Write the id of one: {}.", ids.join(", ")))
        }
    })
}

/// `#12`, `12`, or the label of a job.
fn id_of(text: &str) -> Option<i64> {
    let number = match text.rsplit_once('#') {
        Some((_, number)) => number.strip_suffix(')').unwrap_or(number),
        None => text,
    };
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_the_list_shows_it() {
        let job = ChildJob { id: 12, job: Some(("Settle".into(), "orders".into())) };
        assert_eq!(id_of(&job.label(&Language::English)), Some(12));
        assert_eq!((id_of("#12"), id_of("12"), id_of("Settle"), id_of("#")), (Some(12), Some(12), None, None));
    }
}
