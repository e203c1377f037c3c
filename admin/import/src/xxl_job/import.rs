//! Carries a plan out: apps, jobs in batches, accounts, the ids of runs. An import that ends in the middle goes on with the next one.

use std::collections::{BTreeMap, BTreeSet};

use carillon_accounts::secret::random_secret;
use carillon_accounts::{password, people};
use carillon_scheduler::{FieldError, JobDraft, Millis};
use carillon_store as store;
use carillon_store::import::origins::{NewOrigin, StoredOrigin};
use carillon_store::{
    Actor, App, Calendars, Definition, DefinitionContext, GrantScope, Grants, Job, Role, Store, TargetJob,
};
use foldhash::{HashMap, HashSet};

use super::error::Error;
use super::jobs::{MappedJob, stored_digest};
use super::plan::ImportPlan;
use super::report::Report;
use super::report::record::ImportRecord;

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub apps: usize,
    pub created: usize,
    pub changed: usize,
    pub users: usize,
    /// The first id of the next run.
    pub next_run_id: i64,
    /// What was refused on the way.
    pub refused: Report,
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
    done: Imported,
}

/// Jobs are stored without children first, so that the order of their numbers does not matter.
///
/// # Errors
/// The database does not answer: what is done stays done. A job that is refused is reported.
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
    let mut target = Target { store, plan, by, now, apps, job_ids, done };
    target.let_start().await?;
    let mut stored: Vec<&MappedJob> = vec![];
    for batch in plan.new.chunks(BATCH) {
        stored.extend(target.create(batch).await?);
    }
    for (here, job) in &plan.changed {
        stored.extend(target.change(here, job).await?);
    }
    target.link(&stored).await?;
    target.note(&stored).await?;
    store.imports().note_imported(&plan.source, &plan.kept).await?;
    target.make_accounts().await?;
    ImportRecord::new(plan, &target.done, &target.job_ids).keep(&plan.source, store, now).await?;
    Ok(target.done)
}

/// The numbers of all jobs, those of new ones reserved.
async fn job_ids(plan: &ImportPlan, store: &Store) -> Result<HashMap<i64, i64>, Error> {
    let known = store.imports().origins(&plan.source).await?;
    let known: HashSet<i64> = known.iter().map(|origin| origin.source_id).collect();
    let new = plan.new.iter().filter(|job| !known.contains(&job.id));
    let new: Vec<NewOrigin> = new.map(|job| NewOrigin { source_id: job.id, digest: job.digest.clone() }).collect();
    store.imports().reserve_job_ids(&plan.source, &new).await?;
    let all = store.imports().origins(&plan.source).await?;
    Ok(all.iter().map(|origin| (origin.source_id, origin.job_id)).collect())
}

/// A refusal is one job's; other errors end the import.
fn refusal(error: store::Error) -> Result<String, Error> {
    match error {
        store::Error::Refused(fault) => Ok(format!("{}: {}", fault.field, fault.message)),
        store::Error::Changed(_) | store::Error::Missing(_) | store::Error::Taken(_) => Ok(error.to_string()),
        error => Err(error.into()),
    }
}

impl Target<'_> {
    /// Apps let those start their jobs whose jobs have them as children.
    async fn let_start(&self) -> Result<(), Error> {
        let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (app, starter) in &self.plan.starters {
            wanted.entry(app).or_default().insert(starter);
        }
        for (app, starters) in wanted {
            let app = &self.apps[app];
            let mut all: Vec<App> = vec![];
            for (id, _) in self.store.apps().starters(app.id).await? {
                all.extend(self.store.apps().get(id).await?);
            }
            all.extend(starters.into_iter().map(|name| self.apps[name].clone()));
            self.store.apps().set_starters(app, &all, self.now, self.by).await?;
        }
        Ok(())
    }

    /// Answers those that are stored. If the batch is refused, its jobs are stored one by one.
    async fn create<'j>(&mut self, batch: &'j [MappedJob]) -> Result<Vec<&'j MappedJob>, Error> {
        let mut definitions = vec![];
        for job in batch {
            match self.definition(&job.draft, vec![], None) {
                Ok(definition) => definitions.push((job, definition)),
                Err(why) => self.done.refused.add("J1", format!("job {}", job.id), why),
            }
        }
        let all = definitions.iter().map(|(job, definition)| (self.job_ids[&job.id], definition.clone())).collect();
        let mut stored = vec![];
        match self.store.jobs().create_imported(all, self.now, self.by).await.map_err(refusal) {
            Ok(()) => stored.extend(definitions.iter().map(|(job, _)| *job)),
            Err(Err(error)) => return Err(error),
            Err(Ok(_)) => {
                for (job, definition) in definitions {
                    let one = vec![(self.job_ids[&job.id], definition)];
                    match self.store.jobs().create_imported(one, self.now, self.by).await.map_err(refusal) {
                        Ok(()) => stored.push(job),
                        Err(why) => self.done.refused.add("J1", format!("job {}", job.id), why?),
                    }
                }
            }
        }
        self.done.created += stored.len();
        Ok(stored)
    }

    /// The key, the set of files and what people have switched stay. Children that change are taken away until all jobs are stored.
    async fn change<'j>(&mut self, here: &Job, job: &'j MappedJob) -> Result<Option<&'j MappedJob>, Error> {
        let draft = JobDraft {
            enabled: here.draft.enabled,
            key: here.draft.key.clone(),
            set: here.draft.set.clone(),
            ..job.draft.clone()
        };
        let wanted = self.children_of(job.id);
        let children = if wanted == here.draft.children { wanted } else { vec![] };
        let Err(why) = self.update(here, &draft, children).await? else {
            self.done.changed += 1;
            return Ok(Some(job));
        };
        self.done.refused.add("J1", format!("job {}", job.id), why);
        Ok(None)
    }

    /// Sets the children of those that lack some, without those that are not here.
    async fn link(&mut self, stored: &[&MappedJob]) -> Result<(), Error> {
        let there: HashSet<i64> = self.store.runs().all_job_ids().await?.into_iter().collect();
        for job in stored {
            let of = format!("job {}", job.id);
            let (children, gone): (Vec<i64>, Vec<i64>) =
                self.children_of(job.id).into_iter().partition(|child| there.contains(child));
            for child in gone {
                self.done.refused.add("K1", &of, format!("child {child}, which is not here"));
            }
            let here = self.store.jobs().get(self.job_ids[&job.id]).await?;
            let Some(here) = here.filter(|here| here.draft.children != children) else {
                continue;
            };
            let draft = JobDraft { schedule: here.full_schedule(), ..here.draft.clone() };
            if let Err(why) = self.update(&here, &draft, children).await? {
                self.done.refused.add("K6", of, why);
            }
        }
        Ok(())
    }

    /// Gives a stored job this definition; the inner error says why it is refused.
    async fn update(&self, here: &Job, draft: &JobDraft, children: Vec<i64>) -> Result<Result<(), String>, Error> {
        let definition = match self.definition(draft, children, Some(here)) {
            Ok(definition) => definition,
            Err(why) => return Ok(Err(why)),
        };
        let target = TargetJob::from(here.id);
        let changed = self.store.jobs().update(target, &definition, Some(here.revision), self.now, self.by).await;
        match changed {
            Ok(_) => Ok(Ok(())),
            Err(error) => refusal(error).map(Err),
        }
    }

    fn children_of(&self, source_id: i64) -> Vec<i64> {
        self.plan.children_of(source_id).iter().filter_map(|id| self.job_ids.get(id)).copied().collect()
    }

    fn definition(&self, draft: &JobDraft, children: Vec<i64>, before: Option<&Job>) -> Result<Definition, String> {
        let draft = JobDraft { children, ..draft.clone() };
        let (app, calendars) = (&self.apps[&draft.app], &Calendars::default());
        let context = match before {
            Some(job) => DefinitionContext::of(app, job, calendars),
            None => DefinitionContext::new(app, calendars),
        };
        Definition::check_in(context, &draft, self.now).map_err(|errors| FieldError::join(&errors))
    }

    async fn note(&self, jobs: &[&MappedJob]) -> Result<(), Error> {
        let source_ids: HashMap<i64, i64> = self.job_ids.iter().map(|(source, here)| (*here, *source)).collect();
        for batch in jobs.chunks(BATCH) {
            let mut stored = vec![];
            for job in batch {
                let job_id = self.job_ids[&job.id];
                if let Some(here) = self.store.jobs().get(job_id).await? {
                    let stored_digest = stored_digest(&here, &source_ids);
                    stored.push(StoredOrigin { job_id, digest: job.digest.clone(), stored_digest });
                }
            }
            self.store.imports().note_imported(&self.plan.source, &stored).await?;
        }
        Ok(())
    }

    /// Their passwords are random and not shown: each person gets a link for a new one.
    async fn make_accounts(&mut self) -> Result<(), Error> {
        for user in &self.plan.users {
            let grants: Grants = match &user.apps {
                None => Grants::for_all(Role::Admin),
                Some(names) => {
                    let apps = names.iter().filter_map(|name| self.apps.get(name));
                    apps.map(|app| (GrantScope::App(app.id), Role::Editor)).collect()
                }
            };
            match people::add(self.store, &user.name, &random_secret(), &grants, self.now, self.by).await {
                Ok(_) => self.done.users += 1,
                Err(password::Error::Store(error)) => return Err(error.into()),
                Err(error) => self.done.refused.add("U1", format!("user {}", user.name), error.to_string()),
            }
        }
        Ok(())
    }
}
