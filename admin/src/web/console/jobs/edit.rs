//! The form of a job: new, edit, copy.

use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use carillon_engine::manage::Error;
use carillon_scheduler::job::limits::NAME_CHARS;
use carillon_scheduler::{FieldError, JobDraft, JobTemplate, ScheduleDraft};
use carillon_store::{Job, JobFilter};
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::console::account::owner;
use crate::web::console::account::page::Own;
use crate::web::console::jobs::form_page::{Purpose, page, template_name, template_text, unlike};
use crate::web::console::jobs::script::TOO_LATE;
use crate::web::forms::job_form::{draft, filled, normal};
use crate::web::forms::merge::{self, LIKE, SEEN, UNLIKE};
use crate::web::forms::moment::zone_of;
use crate::web::forms::{Form, child_jobs, curl_form, line_ends, script_form, workflow_form};
use crate::web::page::{PageContext, PageError, PageResult, done};
use crate::web::state::{Shared, State};

/// What the address of a new job's form may fill in.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct FormDefaults {
    app: String,
    handler: String,
    /// The word of a template.
    template: String,
}

/// `GET /jobs/new`
pub async fn new(state: Shared, context: PageContext, defaults: Query<FormDefaults>) -> PageResult {
    let draft = match defaults.template.parse::<JobTemplate>() {
        Ok(template) => JobDraft { app: defaults.app.clone(), ..from_template(&context, template) },
        Err(_) => JobDraft {
            schedule: ScheduleDraft::cron("", context.zone_name()),
            ..JobDraft::new(&defaults.app, "", &defaults.handler)
        },
    };
    let form = filled(&draft, context.zone).with("remark", context.t("script-first").to_string());
    Ok(page(&state, context, Purpose::New, form).await?.answer(StatusCode::OK))
}

/// The definition of a template, with its name and description in the viewer's language.
fn from_template(context: &PageContext, template: JobTemplate) -> JobDraft {
    let text = |key| context.t(key).to_string();
    JobDraft {
        name: text(template_name(template)),
        description: text(template_text(template)),
        ..template.draft(context.zone_name())
    }
}

/// `GET /jobs/{id}/copy`: the copy is paused, so that nothing runs twice by surprise.
pub async fn copy(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let mut draft = job.draft.clone();
    draft.enabled = false;
    draft.key.clear();
    draft.set.clear();
    draft.name = copy_name(&context, &draft.name);
    let mut form = filled(&draft, context.zone).with(LIKE, id.to_string());
    let version = draft.script.as_ref().and_then(|script| script.version);
    if let Some(version) =
        version.filter(|_| state.engine.cx.settings.scripts && context.may_write_scripts(&job.app_id))
    {
        let (version, source) = state.engine.jobs().script(*id, version, &context.actor).await?;
        form = script_form::fill(form, version.kind, &source).with("remark", version.remark);
    }
    let page = page(&state, context, Purpose::Copy(&job), form).await?;
    Ok(page.answer(StatusCode::OK))
}

/// The name of a copy, cut to what a name may have.
fn copy_name(context: &PageContext, name: &str) -> String {
    let copy = |name: &str| context.t("job-copy-name").with("name", name).to_string();
    let room = NAME_CHARS.saturating_sub(copy("").chars().count());
    copy(&name.chars().take(room).collect::<String>())
}

/// `GET /jobs/{id}/edit`
pub async fn edit(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let form = filled(&job.draft, context.zone);
    let seen = merge::seen(&form);
    let form = form.with("revision", job.revision.to_string()).with(SEEN, seen);
    let page = page(&state, context, Purpose::Edit(&job), form).await?;
    Ok(page.answer(StatusCode::OK))
}

/// `POST /jobs`
pub async fn create(state: Shared, own: Own, context: PageContext, mut form: Form) -> PageResult {
    let password = form.take_own_password();
    let original = original(&state, &form, &context).await?;
    let purpose = original.as_ref().map_or(Purpose::New, Purpose::Copy);
    if curl_form::is_asked(&form) {
        return read_curl(&state, context, purpose, form).await;
    }
    let Some(draft) = draft_to_save(&state, &mut form, None, &context).await? else {
        return refused(&state, context, purpose, form).await;
    };
    if form.is("step", "send_once") {
        return send_once(&state, context, purpose, (form, &draft, None)).await;
    }
    // What differs from the original is seen before it is saved, when it has no mistakes.
    if let Some(original) = &original
        && merge::mark_of(&unlike(&context, &form, original)) != form.value(UNLIKE)
    {
        form.accept(state.engine.jobs().check(&draft, None, &context.actor).await)?;
        let (status, is_valid) = (form.status(), form.is_valid());
        let mut page = page(&state, context, purpose, form).await?;
        page.is_unlike_first = is_valid;
        return Ok(page.answer(status));
    }
    let (mut by, has_script) = (own.by.0.clone(), draft.script.is_some());
    if has_script {
        form.accept(state.engine.jobs().check(&draft, None, &by).await)?;
        if !form.is_valid() || owner::check(&state, &own, &mut form, &password, &context, TOO_LATE).await?.is_none() {
            return refused(&state, context, purpose, form).await;
        }
        by = by.confirmed();
    }
    let created = match state.engine.jobs().create(draft, None, &by).await {
        // The right to scripts in the chosen app: what was typed stays.
        Err(Error::Forbidden(why)) if has_script => Err(Error::Invalid(vec![FieldError::new("app", why)])),
        created => created,
    };
    match form.accept(created)? {
        Some(job) => saved(&state, &context, &job, &form, "job-is-created").await,
        None => refused(&state, context, purpose, form).await,
    }
}

/// The job that a new one is like. None: it is like no other, or that one is gone.
async fn original(state: &State, form: &Form, context: &PageContext) -> Result<Option<Job>, PageError> {
    let Ok(id) = form.value(LIKE).parse::<i64>() else {
        return Ok(None);
    };
    Ok(state.store.jobs().get(id).await?.filter(|job| context.may_edit(&job.app_id)))
}

/// `POST /jobs/{id}/edit`
pub async fn update(state: Shared, by: Caller, context: PageContext, id: Path<i64>, mut form: Form) -> PageResult {
    let old = state.engine.jobs().get(*id).await?;
    if curl_form::is_asked(&form) {
        return read_curl(&state, context, Purpose::Edit(&old), form).await;
    }
    let Some(draft) = draft_to_save(&state, &mut form, Some(&old), &context).await? else {
        return refused(&state, context, Purpose::Edit(&old), form).await;
    };
    if form.is("step", "send_once") {
        return send_once(&state, context, Purpose::Edit(&old), (form, &draft, Some(&old))).await;
    }
    let revision = form.value("revision").parse().unwrap_or(-1);
    match state.engine.jobs().update(*id, &draft, Some(revision), &by.0).await {
        Err(Error::Changed(_)) => conflict(&state, context, *id, form).await,
        updated => match form.accept(updated)? {
            Some(job) => saved(&state, &context, &job, &form, "job-is-saved").await,
            None => refused(&state, context, Purpose::Edit(&old), form).await,
        },
    }
}

/// The draft of a form that was sent to be saved. None: it was sent to be shown again, or it has errors, which are in the form.
async fn draft_to_save(
    state: &State,
    form: &mut Form,
    before: Option<&Job>,
    context: &PageContext,
) -> Result<Option<JobDraft>, PageError> {
    child_jobs::add_named(&state.store, form, &context.visible()).await?;
    if workflow_form::is_chosen(form) {
        workflow_form::add_node(&state.store, form, &context.visible()).await?;
    }
    if form.is("step", "add_child") || form.is("step", "add_node") {
        return Ok(None);
    }
    let mut draft = draft(form, context.zone);
    if !form.is("step", "preview") {
        curl_form::refuse_unread(form);
    }
    if before.is_none() && script_form::is_chosen(form) {
        draft.handler.clear();
        draft.script = script_form::script(form);
    }
    if let Some(job) = before {
        draft.set.clone_from(&job.draft.set);
        if draft.handler.trim().is_empty() && draft.workflow.is_none() && draft.http.is_none() {
            draft.script.clone_from(&job.draft.script);
        }
        draft.params = line_ends::kept(&draft.params, &job.draft.params);
        draft.description = line_ends::kept(&draft.description, &job.draft.description);
        if let (Some(request), Some(original)) = (&mut draft.http, &job.draft.http) {
            request.body = line_ends::kept(&request.body, &original.body);
        }
    }
    if form.is_valid() && !form.is("step", "preview") {
        return Ok(Some(draft));
    }
    form.accept(state.engine.jobs().check(&draft, before, &context.actor).await)?;
    Ok(None)
}

/// The form with the request of the line that was pasted. Nothing is saved, and nothing of the line is logged.
async fn read_curl(state: &State, context: PageContext, purpose: Purpose<'_>, mut form: Form) -> PageResult {
    let notes = curl_form::read(&mut form, context.language);
    let status = form.status();
    let mut page = page(state, context, purpose, form).await?;
    page.curl = notes;
    Ok(page.answer(status))
}

/// Sends the request that was filled in, and shows the form with the answer. Nothing is saved.
async fn send_once(
    state: &State,
    context: PageContext,
    purpose: Purpose<'_>,
    (mut form, draft, before): (Form, &JobDraft, Option<&Job>),
) -> PageResult {
    form.accept(state.engine.jobs().check(draft, before, &context.actor).await)?;
    let sent = match form.is_valid() {
        true => form.accept(state.engine.jobs().send_once(draft, &context.actor).await)?,
        false => None,
    };
    let status = form.status();
    let mut page = page(state, context, purpose, form).await?;
    page.sent = sent;
    Ok(page.answer(status))
}

async fn saved(state: &State, context: &PageContext, job: &Job, form: &Form, said: &'static str) -> PageResult {
    let to = match form.value("step") {
        "run" => format!("/jobs/{}/run", job.id),
        _ => format!("/jobs/{}", job.id),
    };
    let mut text = context.t(said).with("name", &job.draft.name).to_string();
    let (name, app) = (Some(job.draft.name.clone()), Some(job.draft.app.clone()));
    let same_name = JobFilter { apps: context.visible(), name, app, limit: 2, ..JobFilter::default() };
    let same_name = state.store.jobs().list(&same_name).await?.items;
    if let Some(other) = same_name.iter().find(|other| other.id != job.id) {
        let other = context.t("job-same-name").with("app", &job.draft.app).with("id", other.id);
        text = format!("{text} {other}");
    }
    Ok(done(&to, &text))
}

async fn refused(state: &State, context: PageContext, purpose: Purpose<'_>, form: Form) -> PageResult {
    let status = form.status();
    Ok(page(state, context, purpose, form).await?.answer(status))
}

/// Another user saved in between. Nothing is written: the form comes back with what both have changed, and saving it again
/// writes the fields that this user changed and no others.
async fn conflict(state: &State, context: PageContext, id: i64, mut form: Form) -> PageResult {
    let theirs = state.engine.jobs().get(id).await?;
    let zone = zone_of(&form, context.zone);
    let stored = filled(&theirs.draft, zone);
    let ours = normal(&form, zone);
    let mut conflict = merge::merge(context.language, &mut form, &ours, &stored, theirs.revision);
    let (_, history) = state.engine.jobs().history(id, &context.actor).await?;
    conflict.by = history.into_iter().next().map(|revision| (revision.change.actor, revision.change.at));
    form.set("revision", theirs.revision.to_string());
    let mut page = page(state, context, Purpose::Edit(&theirs), form).await?;
    page.conflict = Some(conflict);
    Ok(page.answer(StatusCode::CONFLICT))
}
