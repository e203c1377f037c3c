//! `GET /search`: what a text or a number names: runs, jobs, apps and users that the viewer sees.

use actix_web::web::Query;
use askama::Template;
use carillon_engine::manage::{Error, FoundRun};
use carillon_store::people::accounts::Account;
use carillon_store::{App, Job, JobFilter};
use serde::Deserialize;

use crate::web::console::runs::row::RunRow;
use crate::web::page::{PageContext, PageError, PageResult, list_address, redirect, show};
use crate::web::state::{Shared, State};

/// Jobs that the page names; all are in the list of jobs.
const JOBS: u32 = 20;

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SearchQuery {
    text: String,
}

#[derive(Template)]
#[template(path = "search.html")]
struct Page {
    context: PageContext,
    text: String,
    run: Option<RunRow>,
    jobs: Vec<Job>,
    /// The list of jobs with the same text, if there are more.
    all_jobs: Option<String>,
    apps: Vec<App>,
    users: Vec<Account>,
}

impl Page {
    /// The address of what was found, if it is one thing.
    fn only(&self) -> Option<String> {
        let runs = self.run.iter().map(|row| format!("/runs/{}", row.run.id));
        let jobs = self.jobs.iter().map(|job| format!("/jobs/{}", job.id));
        let apps = self.apps.iter().map(|app| list_address("/jobs", &[("app", &app.name)], None));
        let users = self.users.iter().map(|user| format!("/users/{}", user.id));
        let mut found = runs.chain(jobs).chain(apps).chain(users);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }

    fn is_empty(&self) -> bool {
        self.run.is_none() && self.jobs.is_empty() && self.apps.is_empty() && self.users.is_empty()
    }
}

pub async fn page(state: Shared, context: PageContext, query: Query<SearchQuery>) -> PageResult {
    let text = query.into_inner().text.trim().to_owned();
    if text.is_empty() {
        return Ok(redirect("/jobs"));
    }
    // As the console writes ids.
    let number = text.strip_prefix('#').unwrap_or(&text).parse().ok();
    let (mut jobs, next) = named_jobs(&state, &context, &text).await?;
    let mut run = None;
    if let Some(id) = number {
        if is_scheduled(&state, &context, id).await? {
            return Ok(redirect(&format!("/runs/{id}")));
        }
        run = numbered_run(&state, &context, id).await?;
        let job = state.store.jobs().get(id).await?.filter(|job| context.may_see(&job.app_id));
        if let Some(job) = job.filter(|job| jobs.iter().all(|it| it.id != job.id)) {
            jobs.insert(0, job);
        }
    }
    let wanted = text.to_lowercase();
    let is_named = |name: &str| name.to_lowercase().contains(&wanted);
    let mut apps = state.store.apps().list(&context.visible()).await?;
    apps.retain(|app| is_named(&app.name) || is_named(&app.title));
    let mut users = vec![];
    if context.may_administer_installation() {
        users = state.store.people().accounts().await?;
        users.retain(|user| is_named(&user.name));
    }
    let all_jobs = next.map(|_| list_address("/jobs", &[("text", &text)], None));
    let page = Page { context, text, run, jobs, all_jobs, apps, users };
    Ok(page.only().map_or_else(|| show(&page), |address| redirect(&address)))
}

async fn named_jobs(state: &State, context: &PageContext, text: &str) -> Result<(Vec<Job>, Option<i64>), PageError> {
    let filter =
        JobFilter { apps: context.visible(), text: Some(text.to_owned()), limit: JOBS, ..JobFilter::default() };
    let found = state.store.jobs().list(&filter).await?;
    Ok((found.items, found.next))
}

/// It is the number of a run that waits for its time, and that the viewer may see.
async fn is_scheduled(state: &State, context: &PageContext, id: i64) -> Result<bool, PageError> {
    let app_id = state.store.apps().app_of_run(id).await?;
    Ok(app_id.is_some_and(|app_id| context.may_see(&app_id)) && state.store.delayed().get(id).await?.is_some())
}

async fn numbered_run(state: &State, context: &PageContext, id: i64) -> Result<Option<RunRow>, PageError> {
    let app_id = state.store.apps().app_of_run(id).await?;
    if !app_id.is_some_and(|app_id| context.may_see(&app_id)) {
        return Ok(None);
    }
    match state.engine.runs().find(id).await {
        Ok(FoundRun::Run(run)) => Ok(Some(RunRow::new(context, *run))),
        // Its own number leads to the list in which it waits.
        Ok(FoundRun::Scheduled(_)) | Err(Error::Missing(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
