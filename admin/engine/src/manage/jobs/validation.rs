//! What drafts are checked against: the app and the calendars that they name, and the load that decides over a spread.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_inspect::forecast::{LoadBySecond, SpreadChoice};
use carillon_scheduler::{FieldError, JobDraft, Millis, Schedule, ScheduleContext, validate_app_name};
use carillon_store::lease::nodes::HTTP_REQUESTS;
use carillon_store::{Actor, App, AuditObject, Calendars, Definition, DefinitionContext, Job};
use foldhash::{HashMap, HashMapExt as _};

use crate::engine::Engine;
use crate::manage::authorize::require;
use crate::manage::error::Error;
use crate::manage::jobs::best_effort::BestEffortCheck;
use crate::manage::jobs::forbidden_children::ForbiddenChildren;
use crate::manage::jobs::known_secrets::KnownSecrets;
use crate::manage::jobs::moved_links::{StoppedLink, stopped_links};
use crate::manage::jobs::node_jobs::NodeJobs;
use crate::manage::jobs::older_nodes::node_without;
use crate::settings::ms;

/// Looked up once for all drafts of a request.
pub(super) struct ValidationContext {
    apps: HashMap<String, App>,
    calendars: Calendars,
    /// Only where an offset has to be chosen.
    loads: Option<LoadBySecond>,
    /// The job that the draft changes.
    before: Option<Job>,
    children: ForbiddenChildren,
    node_jobs: NodeJobs,
    secrets: KnownSecrets,
    /// If the draft moves the job to another app: the links that stop, and why.
    stopped: Vec<StoppedLink>,
    /// What the drafts name and the actor must not: apps and children.
    denied: Vec<AuditObject>,
    min_period: Duration,
    best_effort: BestEffortCheck,
    /// The address of a live node that cannot run HTTP jobs; looked up only if a draft is one.
    behind: Option<String>,
    now: Millis,
}

/// A schedule as saving would make it.
pub(super) struct PlannedSchedule {
    pub schedule: Schedule,
    pub calendars: Calendars,
    /// How the offset within its spread was found, if it was chosen now.
    pub chosen: Option<SpreadChoice>,
    pub fires_left: Option<u32>,
}

impl ValidationContext {
    pub async fn new(engine: &Engine, drafts: &[JobDraft], before: Option<Job>, by: &Actor) -> Result<Self, Error> {
        let loads = match drafts.iter().any(|draft| needs_offset(draft, before.as_ref())) {
            true => Some(engine.forecaster.loads(before.as_ref().map(|job| job.id)).await?),
            false => None,
        };
        Self::with_loads(engine, drafts, before, loads, by).await
    }

    /// With loads that may be some seconds old.
    pub async fn rough(engine: &Engine, draft: &JobDraft, before: Option<Job>, by: &Actor) -> Result<Self, Error> {
        let loads = match needs_offset(draft, before.as_ref()) {
            true => Some(engine.forecaster.recent_loads().await?),
            false => None,
        };
        Self::with_loads(engine, std::slice::from_ref(draft), before, loads, by).await
    }

    async fn with_loads(
        engine: &Engine,
        drafts: &[JobDraft],
        before: Option<Job>,
        loads: Option<LoadBySecond>,
        by: &Actor,
    ) -> Result<Self, Error> {
        let (mut apps, mut denied) = (HashMap::new(), vec![]);
        for name in drafts.iter().map(|draft| &draft.app).collect::<BTreeSet<_>>() {
            let found = engine.cx.store.apps().by_name(name).await?;
            let Some(app) = found else {
                continue;
            };
            if policy::decide(by, Action::View, Object::App(app.id)) == Decision::Hidden {
                denied.push(AuditObject::app(app.id));
            } else {
                apps.insert(name.clone(), app);
            }
        }
        let names: BTreeSet<&String> = drafts.iter().flat_map(|draft| &draft.schedule.calendars).collect();
        let names: Vec<String> = names.into_iter().cloned().collect();
        let calendars = engine.cx.store.calendars().named(&names).await?;
        let node_jobs = NodeJobs::new(engine, drafts).await?;
        let resolved: Vec<JobDraft> = drafts
            .iter()
            .map(|draft| node_jobs.resolve(draft).map_or_else(|_| draft.clone(), Cow::into_owned))
            .collect();
        let children = ForbiddenChildren::new(engine, &resolved, before.as_ref(), by).await?;
        denied.extend(children.objects());
        let moved = before.as_ref().zip(drafts.first()).filter(|(before, draft)| before.draft.app != draft.app);
        let stopped = match moved.and_then(|(before, draft)| Some((before.id, apps.get(&draft.app)?))) {
            Some((id, app)) => stopped_links(engine, &[id], app, by).await?,
            None => vec![],
        };
        let secrets = KnownSecrets::new(engine, drafts, apps.values()).await?;
        let best_effort = BestEffortCheck::new(engine, drafts, before.as_ref()).await?;
        let min_period = engine.cx.settings.limits.min_period;
        let now = engine.cx.clock.now();
        let behind = match drafts.iter().any(|draft| draft.http.is_some()) {
            true => node_without(engine, HTTP_REQUESTS).await?,
            false => None,
        };
        Ok(Self {
            apps,
            calendars,
            loads,
            before,
            children,
            node_jobs,
            secrets,
            best_effort,
            stopped,
            denied,
            min_period,
            behind,
            now,
        })
    }

    /// Before anything is saved: the actor must be an editor of each app that the drafts name. What it names and may not is for
    /// the audit; a look at a draft leaves no trace there.
    ///
    /// # Errors
    /// `Forbidden`
    pub fn require_editor(&self, by: &Actor) -> Result<(), Error> {
        self.denied.iter().for_each(|object| by.denials.add(*object));
        let mut apps = self.apps.values();
        apps.try_for_each(|app| require(by, Action::Edit, Object::App(app.id), || format!("app {}", app.name)))
    }

    /// Takes an app as existing, for a look at a draft that is not to be saved.
    pub fn add_placeholder(&mut self, name: &str) {
        let app = App::new(0, name);
        self.apps.entry(name.to_owned()).or_insert(app);
    }

    /// # Errors
    /// Names every member that is wrong.
    pub fn check(&mut self, draft: &JobDraft) -> Result<Definition, Vec<FieldError>> {
        self.check_and_choose(draft).map(|(definition, _)| definition)
    }

    /// # Errors
    /// Names every member that is wrong.
    pub fn plan(&mut self, draft: &JobDraft) -> Result<PlannedSchedule, Vec<FieldError>> {
        let (mut definition, chosen) = self.check_and_choose(draft)?;
        let schedule = &definition.spec().schedule;
        let fires_left = match self.before.as_ref().filter(|job| job.draft.schedule == schedule.draft()) {
            Some(job) => job.fires_left.map(i32::unsigned_abs),
            None => schedule.max_fires(),
        };
        if let Some(job) = &self.before {
            definition.keep_anchor(job);
        }
        let schedule = definition.schedule().map_err(|error| vec![error])?;
        let calendars = self.calendars.only(&draft.schedule.calendars);
        Ok(PlannedSchedule { schedule, calendars, chosen, fires_left })
    }

    /// The offset within the spread is chosen here; the next draft finds that second in use.
    fn check_and_choose(&mut self, draft: &JobDraft) -> Result<(Definition, Option<SpreadChoice>), Vec<FieldError>> {
        let Some(app) = self.apps.get(&draft.app) else {
            return Err(self.without_app(draft));
        };
        let before = self.before.as_ref();
        let (draft, unknown) = match self.node_jobs.resolve(draft) {
            Ok(draft) => (draft, vec![]),
            Err(errors) => (Cow::Borrowed(draft), errors),
        };
        let draft = draft.as_ref();
        let calendars = self.calendars.only(&draft.schedule.calendars);
        let chosen = match &mut self.loads {
            Some(loads) if needs_offset(draft, before) => Some(loads.choose(draft, &calendars, self.now)),
            _ => None,
        };
        let kept = before.filter(|_| draft.schedule.spread_seconds > 0).map_or(0, |job| job.spread_offset);
        let spread_offset = chosen.map_or(kept, |chosen| chosen.offset_seconds.cast_signed());
        let surroundings = DefinitionContext { app, before, spread_offset, calendars: &self.calendars };
        let definition = Definition::check_in(surroundings, draft, self.now);
        let schedule = definition.as_ref().ok().map(|definition| &definition.spec().schedule);
        let is_kept = |it: &Schedule| before.is_some_and(|job| job.draft.schedule == it.draft());
        let too_often = schedule
            .filter(|it| !draft.is_best_effort() && !is_kept(it))
            .and_then(|it| fires_too_often(it, self.now, self.min_period));
        let stopped = self.stopped.iter().filter_map(|stopped| stopped.field_error(draft, before?.id));
        let forbidden: Vec<FieldError> = self
            .children
            .errors(draft)
            .chain(self.best_effort.errors(draft))
            .chain(too_often)
            .chain(stopped)
            .chain(unknown)
            .chain(self.too_new(draft))
            .chain(self.secrets.error(draft, app, before))
            .collect();
        match forbidden.is_empty() {
            true => definition.map(|definition| (definition, chosen)),
            false => Err(definition.err().into_iter().flatten().chain(forbidden).collect()),
        }
    }

    /// A request that is not saved yet, while a node of an earlier version may hold the job's shard.
    fn too_new(&self, draft: &JobDraft) -> Option<FieldError> {
        let before = self.before.as_ref().and_then(|job| job.draft.http.as_ref());
        let address = self.behind.as_ref().filter(|_| draft.http.is_some() && draft.http.as_ref() != before)?;
        let message = format!("cannot be saved while {address} is of an earlier version, which cannot send it");
        Some(FieldError::new("http", message))
    }

    /// What is wrong with a draft whose app does not exist.
    fn without_app(&self, draft: &JobDraft) -> Vec<FieldError> {
        let message = match validate_app_name(&draft.app) {
            Err(message) => message,
            Ok(()) => format!("there is no app `{}`; create it first (POST /api/v1/apps)", draft.app),
        };
        let calendars = self.calendars.only(&draft.schedule.calendars);
        let context = ScheduleContext { calendars: calendars.list(), ..ScheduleContext::from_anchor(self.now) };
        let others = draft.validate(&context, None, self.now).err().unwrap_or_default();
        let others = others.into_iter().filter(|error| error.field != "app");
        std::iter::once(FieldError::new("app", message)).chain(others).collect()
    }
}

/// Instants that are looked at: a schedule that fires more often does so within some days.
const LOOKED_AT: usize = 200;

/// What is wrong with a schedule that fires more often than is allowed.
fn fires_too_often(schedule: &Schedule, now: Millis, min_period: Duration) -> Option<FieldError> {
    if min_period <= SHORTEST {
        return None;
    }
    let instants = schedule.following(now, LOOKED_AT);
    let between = instants.windows(2).map(|pair| pair[1] - pair[0]);
    let shortest = between.min().filter(|period| *period < ms(min_period))?;
    let (period, least) = (Duration::from_millis(shortest.unsigned_abs()), min_period);
    Some(FieldError::new("schedule", format!("two fires are only {period:?} apart; at least {least:?} (--min-period)")))
}

/// No schedule can fire more often.
const SHORTEST: Duration = Duration::from_secs(1);

/// Whether the offset has to be chosen: it is kept as long as the job's window and its kind of schedule stay.
fn needs_offset(draft: &JobDraft, before: Option<&Job>) -> bool {
    let schedule = &draft.schedule;
    let is_kept = before.is_some_and(|job| {
        let old = &job.draft.schedule;
        old.spread_seconds == schedule.spread_seconds && old.kind() == schedule.kind()
    });
    schedule.spread_seconds > 0 && schedule.spread_offset_seconds.is_none() && !is_kept
}
