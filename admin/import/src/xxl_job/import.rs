//! Carries a plan out: apps, jobs in batches, accounts, the ids of runs. An import that ends in the middle goes on with the next one.

use carillon_accounts::people;
use carillon_accounts::secret::random_secret;
use carillon_scheduler::{JobDraft, Millis};
use carillon_store::import::origins::{NewOrigin, StoredOrigin};
use carillon_store::{
    Actor, App, Calendars, Definition, DefinitionContext, GrantScope, Grants, Job, Role, Store, TargetJob,
};
use foldhash::HashMap;

use super::error::Error;
use super::jobs::MappedJob;
use super::plan::{ImportPlan, digest, stored_digest};

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub apps: usize,
    pub created: usize,
    pub changed: usize,
    pub users: usize,
    /// The first id of the next run.
    pub next_run_id: i64,
}

/// Jobs of one transaction.
const BATCH: usize = 500;

/// Where jobs are stored.
struct Target<'a> {
    store: &'a Store,
    plan: &'a ImportPlan,
    by: &'a Actor,
    now: Millis,
    apps: HashMap<String, App>,
    /// Of all jobs of the source, by their numbers there.
    job_ids: HashMap<i64, i64>,
}

/// # Errors
/// The database does not answer, or something was changed since the plan was made: what is done stays done.
pub async fn import(plan: &ImportPlan, store: &Store, by: &Actor, now: Millis) -> Result<Imported, Error> {
    let mut done =
        Imported { next_run_id: store.imports().raise_run_ids(plan.run_ids_above).await?, ..Imported::default() };
    let mut apps = HashMap::default();
    for wanted in &plan.apps {
        let app = match store.apps().by_name(&wanted.name).await? {
            Some(app) => app,
            None => {
                done.apps += 1;
                store.apps().create(&wanted.name, &wanted.title, now, by).await?
            }
        };
        apps.insert(wanted.name.clone(), app);
    }
    let job_ids = job_ids(plan, store).await?;
    let target = Target { store, plan, by, now, apps, job_ids };
    for batch in plan.new.chunks(BATCH) {
        done.created += target.create(batch).await?;
    }
    for (here, job) in &plan.changed {
        target.change(here, job).await?;
        done.changed += 1;
    }
    done.users = target.make_accounts().await?;
    Ok(done)
}

/// The numbers of all jobs, those of new ones reserved.
async fn job_ids(plan: &ImportPlan, store: &Store) -> Result<HashMap<i64, i64>, Error> {
    let known = store.imports().origins(&plan.source).await?;
    let is_new = |job: &&MappedJob| known.iter().all(|origin| origin.source_id != job.id);
    let origin = |job: &MappedJob| NewOrigin {
        source_id: job.id,
        digest: digest(&job.draft, plan.children_of(job.id)),
        was_running: job.is_running,
    };
    let new: Vec<NewOrigin> = plan.new.iter().filter(is_new).map(origin).collect();
    store.imports().reserve_job_ids(&plan.source, &new).await?;
    let all = store.imports().origins(&plan.source).await?;
    Ok(all.iter().map(|origin| (origin.source_id, origin.job_id)).collect())
}

impl Target<'_> {
    async fn create(&self, batch: &[MappedJob]) -> Result<usize, Error> {
        let mut definitions = Vec::with_capacity(batch.len());
        for job in batch {
            definitions.push((self.job_ids[&job.id], self.definition(&job.draft, job.id, None)?));
        }
        self.store.jobs().create_imported(definitions, self.now, self.by).await?;
        self.note(batch).await?;
        Ok(batch.len())
    }

    async fn change(&self, here: &Job, job: &MappedJob) -> Result<(), Error> {
        // The key and what people have switched stay.
        let draft = JobDraft { enabled: here.draft.enabled, key: here.draft.key.clone(), ..job.draft.clone() };
        let definition = self.definition(&draft, job.id, Some(here))?;
        let target = TargetJob::from(here.id);
        self.store.jobs().update(target, &definition, Some(here.revision), self.now, self.by).await?;
        self.note(std::slice::from_ref(job)).await
    }

    fn definition(&self, draft: &JobDraft, source_id: i64, before: Option<&Job>) -> Result<Definition, Error> {
        let children = self.plan.children_of(source_id).iter().filter_map(|id| self.job_ids.get(id)).copied();
        let draft = JobDraft { children: children.collect(), ..draft.clone() };
        let (app, calendars) = (&self.apps[&draft.app], &Calendars::default());
        let context = match before {
            Some(job) => DefinitionContext::of(app, job, calendars),
            None => DefinitionContext::new(app, calendars),
        };
        let refused = |errors: Vec<carillon_scheduler::FieldError>| {
            let texts: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
            Error::Input(format!("job {source_id}: {}", texts.join("; ")))
        };
        Definition::check_in(context, &draft, self.now).map_err(refused)
    }

    async fn note(&self, jobs: &[MappedJob]) -> Result<(), Error> {
        let source_ids: HashMap<i64, i64> = self.job_ids.iter().map(|(source, here)| (*here, *source)).collect();
        let mut stored = vec![];
        for job in jobs {
            let job_id = self.job_ids[&job.id];
            let Some(here) = self.store.jobs().get(job_id).await? else {
                continue;
            };
            stored.push(StoredOrigin {
                job_id,
                digest: digest(&job.draft, self.plan.children_of(job.id)),
                stored_digest: stored_digest(&here, &source_ids),
                was_running: job.is_running,
            });
        }
        Ok(self.store.imports().note_imported(&self.plan.source, &stored).await?)
    }

    /// Their passwords are random and not shown: each person gets a link for a new one.
    async fn make_accounts(&self) -> Result<usize, Error> {
        for user in &self.plan.users {
            let grants: Grants = match &user.apps {
                None => Grants::for_all(Role::Admin),
                Some(names) => {
                    let ids = names.iter().filter_map(|name| self.apps.get(name));
                    ids.map(|app| (GrantScope::App(app.id), Role::Editor)).collect()
                }
            };
            let added = people::add(self.store, &user.name, &random_secret(), &grants, self.now, self.by).await;
            added.map_err(|error| Error::Input(format!("user {}: {error}", user.name)))?;
        }
        Ok(self.plan.users.len())
    }
}
