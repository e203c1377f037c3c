//! The form of a job: new, edit, copy.

use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use askama::Template;
use carillon_scheduler::{BlockStrategy, JobDraft, RouteStrategy, ScheduleDraft};
use serde::Deserialize;

use super::form::Form;
use super::guard::Fields;
use super::job::{actor, find, gone};
use super::job_fields::{LABELS, definition, filled, schedule_of};
use super::preview::{Preview, preview};
use super::problem::Problem;
use crate::store::{App, Error, Job};
use crate::web::State;
use crate::web::html::{self, Frame, see_other_with};
use crate::web::session::Viewer;

/// A choice of a select, with what it does.
pub struct Choice {
    pub word: &'static str,
    pub summary: String,
}

/// What somebody else saved meanwhile.
struct Conflict {
    revision: i64,
    /// Label, theirs, ours.
    differences: Vec<(&'static str, String, String)>,
}

#[derive(Template)]
#[template(path = "jobs/form.html")]
struct Page {
    frame: Frame,
    title: String,
    /// The job that is edited or copied.
    origin: Option<(i64, String)>,
    /// Where the form goes, and where Cancel does.
    action: String,
    back: String,
    apps: Vec<App>,
    form: Form,
    preview: Preview,
    conflict: Option<Conflict>,
    routes: Vec<Choice>,
    blocks: Vec<Choice>,
    is_new: bool,
}

impl Page {
    fn label(&self, name: &str) -> &'static str {
        let found = LABELS.iter().find(|(field, _)| *field == name);
        found.map_or("", |(_, label)| label)
    }

    /// Where the link of an error leads.
    fn target(&self, name: &str) -> String {
        match name {
            "kind" => "kind-cron".to_owned(),
            name => name.to_owned(),
        }
    }

    fn answer(self, status: StatusCode) -> HttpResponse {
        html::page(&self, status)
    }
}

/// What kind of form it is.
enum Purpose<'a> {
    New,
    Copy(&'a Job),
    Edit(&'a Job),
}

async fn page(
    state: &State,
    frame: Frame,
    purpose: Purpose<'_>,
    mut form: Form,
) -> Result<Page, Problem> {
    let (title, action, origin, anchor_at) = match purpose {
        Purpose::New => ("New job", "/jobs".to_owned(), None, frame.now),
        Purpose::Copy(job) => ("Copy job", "/jobs".to_owned(), Some(job), frame.now),
        Purpose::Edit(job) => (
            "Edit job",
            format!("/jobs/{}/edit", job.id),
            Some(job),
            job.anchor_at,
        ),
    };
    let back = origin.map_or_else(|| "/jobs".to_owned(), |job| format!("/jobs/{}", job.id));
    form.sort_errors(LABELS);
    let schedule = schedule_of(&mut form.clone());
    let is_blank = form.value("expression").trim().is_empty() && form.is("kind", "cron");
    let preview = match schedule {
        Some(schedule) if !is_blank => preview(&schedule, anchor_at, frame.now),
        _ => Preview::Never,
    };
    Ok(Page {
        title: title.to_owned(),
        origin: origin.map(|job| (job.id, job.draft.name.clone())),
        action,
        back,
        apps: state.store.apps().await?,
        form,
        preview,
        conflict: None,
        routes: RouteStrategy::ALL
            .iter()
            .map(|it| choice(it.as_str(), it.summary()))
            .collect(),
        blocks: BlockStrategy::ALL
            .iter()
            .map(|it| choice(it.as_str(), it.summary()))
            .collect(),
        is_new: !matches!(purpose, Purpose::Edit(_)),
        frame,
    })
}

fn choice(word: &'static str, summary: &str) -> Choice {
    Choice {
        word,
        summary: summary.to_owned(),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Start {
    app: String,
    handler: String,
}

/// `GET /jobs/new`
pub async fn new(
    state: web::Data<State>,
    frame: Frame,
    start: web::Query<Start>,
) -> Result<HttpResponse, Problem> {
    let mut draft = JobDraft::new(&start.app, "", &start.handler);
    draft.schedule = ScheduleDraft::cron("", frame.zone_name());
    let form = filled(&draft);
    Ok(page(&state, frame, Purpose::New, form)
        .await?
        .answer(StatusCode::OK))
}

/// `GET /jobs/{id}/copy`: the copy is paused, so that nothing runs twice by surprise.
pub async fn copy(
    state: web::Data<State>,
    frame: Frame,
    id: web::Path<i64>,
) -> Result<HttpResponse, Problem> {
    let job = find(&state, *id).await?;
    let mut draft = job.draft.clone();
    draft.enabled = false;
    let short: String = draft.name.chars().take(57).collect();
    draft.name = format!("{short} (copy)");
    let form = filled(&draft);
    let page = page(&state, frame, Purpose::Copy(&job), form).await?;
    Ok(page.answer(StatusCode::OK))
}

/// `GET /jobs/{id}/edit`
pub async fn edit(
    state: web::Data<State>,
    frame: Frame,
    id: web::Path<i64>,
) -> Result<HttpResponse, Problem> {
    let job = find(&state, *id).await?;
    let form = filled(&job.draft).with("revision", job.revision.to_string());
    let page = page(&state, frame, Purpose::Edit(&job), form).await?;
    Ok(page.answer(StatusCode::OK))
}

/// `POST /jobs`
pub async fn create(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    frame: Frame,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    let mut form = Form::from(fields);
    let definition = definition(&state, &mut form, None, frame.now).await?;
    let (Some(definition), false) = (definition, form.is("step", "preview")) else {
        return refused(&state, frame, Purpose::New, form).await;
    };
    let made = state
        .store
        .create_jobs(
            vec![definition],
            state.shards,
            frame.now,
            &actor(&viewer, &request),
            None,
        )
        .await?;
    let job = made
        .first()
        .ok_or_else(|| Problem::Internal("no job was made".into()))?;
    state.pipeline.job_changed(job.shard);
    Ok(saved(job, &form, "made"))
}

/// `POST /jobs/{id}/edit`
pub async fn update(
    state: web::Data<State>,
    request: HttpRequest,
    viewer: Viewer,
    frame: Frame,
    id: web::Path<i64>,
    fields: Fields,
) -> Result<HttpResponse, Problem> {
    let old = find(&state, *id).await?;
    let mut form = Form::from(fields);
    let definition = definition(&state, &mut form, Some(&old), frame.now).await?;
    let (Some(definition), false) = (definition, form.is("step", "preview")) else {
        return refused(&state, frame, Purpose::Edit(&old), form).await;
    };
    let revision = form.value("revision").parse().ok();
    let actor = actor(&viewer, &request);
    match state
        .store
        .update_job(*id, &definition, revision.or(Some(-1)), frame.now, &actor)
        .await
    {
        Ok(job) => {
            state.pipeline.job_changed(job.shard);
            Ok(saved(&job, &form, "saved"))
        }
        Err(Error::Changed(_)) => conflict(&state, frame, *id, form).await,
        Err(error) => Err(gone(error)),
    }
}

fn saved(job: &Job, form: &Form, verb: &str) -> HttpResponse {
    let to = match form.value("step") {
        "run" => format!("/jobs/{}/run", job.id),
        _ => format!("/jobs/{}", job.id),
    };
    see_other_with(&to, "ok", &format!("{} is {verb}.", job.draft.name))
}

async fn refused(
    state: &State,
    frame: Frame,
    purpose: Purpose<'_>,
    form: Form,
) -> Result<HttpResponse, Problem> {
    let status = match form.is_fine() {
        true => StatusCode::OK,
        false => StatusCode::UNPROCESSABLE_ENTITY,
    };
    Ok(page(state, frame, purpose, form).await?.answer(status))
}

/// Somebody else saved in between: both versions are shown, and saving again takes this one.
async fn conflict(
    state: &State,
    frame: Frame,
    id: i64,
    mut form: Form,
) -> Result<HttpResponse, Problem> {
    let theirs = find(state, id).await?;
    let stored = filled(&theirs.draft);
    let differences = LABELS
        .iter()
        .filter(|(name, _)| stored.value(name) != form.value(name))
        .map(|(name, label)| {
            (
                *label,
                stored.value(name).to_owned(),
                form.value(name).to_owned(),
            )
        })
        .collect();
    form.set("revision", theirs.revision.to_string());
    let mut page = page(state, frame, Purpose::Edit(&theirs), form).await?;
    page.conflict = Some(Conflict {
        revision: theirs.revision,
        differences,
    });
    Ok(page.answer(StatusCode::CONFLICT))
}
