//! Edits of people and programs, as far as the code leaves them to these: what a program enforces would be written back within seconds, so
//! it is refused.

use carillon_accounts::policy::{Action, Object};
use carillon_engine::Error;
use carillon_engine::manage::require;
use carillon_scheduler::workflow::NodeJob;
use carillon_scheduler::{FieldError, JobDraft};
use carillon_store::{Actor, Job};

use crate::applier::Declarations;
use crate::code;
use crate::view::DeclaredJobView;

impl Declarations {
    /// Gives a job another definition.
    ///
    /// # Errors
    /// Those of `Jobs::update`; `Invalid` names the members that a program enforces
    pub async fn update_job(&self, id: i64, draft: &JobDraft, expected: Option<i64>, by: &Actor) -> Result<Job, Error> {
        let before = self.editable(id, by).await?;
        if let Some((declared, members)) = self.enforced(&before, draft).await? {
            let changed = members.iter().filter(|member| differs(member, &before, draft));
            refuse(&declared, changed)?;
        }
        self.engine.jobs().update(id, draft, expected, by).await
    }

    /// Gives the job with the draft's app and key this definition, and creates it if there is none.
    ///
    /// # Errors
    /// Those of `Jobs::put`; `Invalid` names the members that a program enforces
    pub async fn put_job(&self, app_id: i64, draft: JobDraft, expected: Option<i64>, by: &Actor) -> Result<Job, Error> {
        match self.engine.jobs().with_key(app_id, &draft.key).await {
            Ok(job) => self.update_job(job.id, &draft, expected, by).await,
            Err(Error::Missing(_)) => self.engine.jobs().put(app_id, draft, expected, by).await,
            // Otherwise there may be a job, and members that are enforced.
            Err(error) => Err(error),
        }
    }

    /// Gives a job a definition that it has had.
    ///
    /// # Errors
    /// Those of `Jobs::restore`; `Invalid` names the members that a program enforces
    pub async fn restore_job(&self, id: i64, revision: i64, expected: Option<i64>, by: &Actor) -> Result<Job, Error> {
        let before = self.editable(id, by).await?;
        if let Some((declared, members)) = self.enforced(&before, &before.draft).await? {
            let difference = self.engine.jobs().restorable(id, revision, by).await?.difference;
            let sides = ["before", "after"].map(|side| &difference[side]);
            let is_changed = |member: &&String| sides.iter().any(|side| side.get(member.as_str()).is_some());
            refuse(&declared, members.iter().filter(is_changed))?;
        }
        self.engine.jobs().restore(id, revision, expected, by).await
    }

    async fn editable(&self, id: i64, by: &Actor) -> Result<Job, Error> {
        let job = self.engine.jobs().get(id).await?;
        require(by, Action::Edit, Object::App(job.app_id), || format!("job {id}"))?;
        Ok(job)
    }

    /// The members that a program enforces. None: there are none, or the job leaves the program with this draft: to another app, or to a
    /// set of files.
    async fn enforced(&self, before: &Job, draft: &JobDraft) -> Result<Option<(DeclaredJobView, Vec<String>)>, Error> {
        if !draft.set.is_empty() || draft.app != before.draft.app {
            return Ok(None);
        }
        let Some(declared) = self.of_job(before).await? else { return Ok(None) };
        let app = self.engine.apps().get(before.app_id).await?;
        let members = declared.enforced(app.declarations).to_vec();
        Ok((!members.is_empty()).then_some((declared, members)))
    }
}

/// A draft that is wrong differs in nothing here: the edit says what is wrong with it.
fn differs(member: &str, before: &Job, draft: &JobDraft) -> bool {
    let nodes = draft.workflow.iter().flat_map(|workflow| &workflow.nodes);
    if member == "workflow" && nodes.into_iter().any(|(_, node)| matches!(node.job, NodeJob::Key(_))) {
        // Compared by the code, which knows the numbers of the keys.
        return false;
    }
    let mut given = code::members(draft);
    given.retain(|name, _| name == member);
    let Ok(given) = code::normal(draft, &given) else { return false };
    given.get(member).is_some_and(|value| code::members(&before.draft).get(member) != Some(value))
}

fn refuse<'a>(declared: &DeclaredJobView, members: impl Iterator<Item = &'a String>) -> Result<(), Error> {
    let DeclaredJobView { build, place, .. } = declared;
    let message = format!(
        "is declared in {build} at {place} and enforced; set the declarations of the app to `report` to change it here"
    );
    let errors: Vec<FieldError> = members.map(|member| FieldError::new(member, message.clone())).collect();
    if errors.is_empty() { Ok(()) } else { Err(Error::Invalid(errors)) }
}
