//! The page of a job.

mod local_loop;
mod settings;

use actix_web::web::Path;
use askama::Template;
use carillon_declared::DeclaredJobView;
use carillon_scheduler::Millis;
use carillon_store::run::view::starts::StartShares;
use carillon_store::{Job, Misfire, MisfireFilter, RunFilter, ScheduledFilter, ScheduledRun};

use self::local_loop::LocalLoop;
use self::settings::{SettingLine, request_lines, settings_lines};
use crate::web::console::apps::declarations::differences;
use crate::web::console::badge::{APP_PAUSED, Badge, declared_badge, job_badge, job_state};
use crate::web::console::jobs::preview::{self, Preview};
use crate::web::console::runs::row::RunRow;
use crate::web::console::workflows::definition::{self, Definition};
use crate::web::forms::child_jobs::{self, ChildJob};
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageResult, show};
use crate::web::state::Shared;
use crate::web::text::names::skip_text;
use crate::web::text::schedule::{ScheduleText, schedule_text};
use crate::web::text::strategies;

const RUNS: u32 = 10;
const MISFIRES: u32 = 5;
const SCHEDULED: u32 = 5;

#[derive(Template)]
#[template(path = "jobs/page.html")]
struct Page {
    context: PageContext,
    job: Job,
    badge: Badge,
    state: &'static str,
    schedule: ScheduleText,
    /// Of an HTTP job, beside the request itself.
    request_lines: Vec<SettingLine>,
    settings: Vec<SettingLine>,
    route: String,
    retry_delay: Message,
    child_jobs: Vec<ChildJob>,
    parents: Vec<ChildJob>,
    /// Of a workflow.
    definition: Option<Definition>,
    /// The workflows of which it is a node.
    users: Vec<ChildJob>,
    /// Children that this job may not start, and parents that may not start this job.
    unstarted: Vec<i64>,
    /// What code says of it.
    declared: Option<DeclaredJobView>,
    /// How often its runs have met its objective. None: it has none.
    starts: Option<StartShares>,
    preview: Preview,
    /// Of a best-effort job.
    local: Option<LocalLoop>,
    runs: Vec<RunRow>,
    misfires: Vec<Misfire>,
    /// The first runs that are scheduled, and whether there are more.
    scheduled: Vec<ScheduledRun>,
    has_more_scheduled: bool,
}

impl Page {
    /// The notes that it has, with the keys of their labels.
    fn notes(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let draft = &self.job.draft;
        carillon_scheduler::job::NOTES
            .iter()
            .map(|note| (note.member, note.of(draft)))
            .filter(|(_, text)| !text.is_empty())
    }

    /// Only these schemes are linked: others could run a script.
    fn is_address(&self, text: &str) -> bool {
        text.starts_with("https://") || text.starts_with("http://")
    }

    /// What is to be said before the next fires: why they come later, or not at all.
    fn before_fires(&self) -> Option<Message> {
        let until = |key, end: &Millis| self.context.t(key).with("end", self.context.full(end));
        match (&self.job.pause, self.context.pause_of(self.job.app_id)) {
            _ if self.job.draft.enabled => match self.context.pause_of(self.job.app_id)?.ends_at {
                Some(end) => Some(until("job-app-paused-until", &end)),
                None => Some(self.context.t("job-app-paused")),
            },
            (Some(pause), _) if let Some(end) = pause.ends_at => Some(until("job-paused-until", &end)),
            _ => Some(self.context.t("job-paused-preview")),
        }
    }

    /// No fire is sent before somebody ends the pause of the app.
    fn has_fires(&self) -> bool {
        !self.job.draft.enabled || self.context.pause_of(self.job.app_id).is_none_or(|pause| pause.ends_at.is_some())
    }

    fn declared_badge(&self, declared: &DeclaredJobView) -> Badge {
        declared_badge(declared.state)
    }

    fn differences(&self, declared: &DeclaredJobView) -> Vec<Message> {
        differences(&self.context, declared)
    }

    fn why(&self, misfire: &Misfire) -> Message {
        skip_text(self.context.language, misfire)
    }
}

/// `GET /jobs/{id}`
pub async fn page(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let runs = RunFilter { apps: context.visible(), job_id: Some(job.id), limit: RUNS, ..RunFilter::default() };
    let runs = state.store.runs().list(&runs).await?;
    let misfires =
        MisfireFilter { apps: context.visible(), job_id: Some(job.id), limit: MISFIRES, ..MisfireFilter::default() };
    let scheduled = ScheduledFilter { job_id: job.id, limit: SCHEDULED, ..ScheduledFilter::default() };
    let scheduled = state.store.delayed().list(&scheduled).await?;
    let links = state.store.jobs().child_links(&[job.id]).await?;
    let definition = match &job.draft.workflow {
        Some(draft) => definition::definition(&state.store, context.language, draft, &context.visible()).await?,
        None => None,
    };
    let starts = match job.draft.start_within_seconds {
        0 => None,
        within => Some(state.store.runs().start_shares(job.id, within, context.now).await?),
    };
    let users: Vec<i64> = state.store.workflows().users_of(job.id).await?.into_iter().map(|(id, _)| id).collect();
    let page = Page {
        badge: match context.pause_of(job.app_id) {
            Some(_) if job.draft.enabled => APP_PAUSED,
            _ => job_badge(&job),
        },
        state: job_state(&job),
        schedule: schedule_text(context.language, &job.draft.schedule),
        request_lines: request_lines(&context, &job.draft),
        settings: settings_lines(&context, &job),
        route: strategies::route(context.language, job.draft.route),
        retry_delay: strategies::retry_delay(context.language, &job.draft.retry_delay),
        child_jobs: child_jobs::by_id(&state.store, &job.draft.children, &context.visible()).await?,
        parents: child_jobs::parents(&state.store, job.id, &context.visible()).await?,
        definition,
        users: child_jobs::by_id(&state.store, &users, &context.visible()).await?,
        unstarted: links
            .iter()
            .filter(|link| !link.is_started)
            .map(|link| if link.child == job.id { link.parent } else { link.child })
            .collect(),
        declared: state.declarations.of_job(&job).await?,
        starts,
        preview: preview::of_job(&context, &job),
        local: state.engine.loop_of(&job).await?.map(|found| LocalLoop { found }),
        runs: runs.items.into_iter().map(|run| RunRow::new(&context, run)).collect(),
        misfires: state.store.runs().misfires(&misfires).await?.items,
        has_more_scheduled: scheduled.next.is_some(),
        scheduled: scheduled.items,
        context,
        job,
    };
    Ok(show(&page))
}
