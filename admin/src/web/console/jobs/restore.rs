//! A former definition of a job: what restoring it would change, and the step itself.

use actix_web::web::Path;
use askama::Template;
use carillon_engine::manage::Error;
use carillon_scheduler::FieldError;
use carillon_store::Job;

use crate::web::console::account::owner;
use crate::web::console::account::page::Own;
use crate::web::console::audit::members::{ChangeLine, change_lines};
use crate::web::console::jobs::script::TOO_LATE;
use crate::web::forms::{Fields, Form};
use crate::web::page::{PageContext, PageResult, done, refused, render};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "jobs/restore.html")]
struct Question {
    context: PageContext,
    job: Job,
    version: i64,
    changes: Vec<ChangeLine>,
    /// Why the definition cannot be used any more.
    wrong: Vec<FieldError>,
    /// It has another script, which the viewer may not write.
    lacks_right: bool,
    asks_password: bool,
    form: Form,
}

/// `GET /jobs/{id}/history/{revision}/restore` asks.
pub async fn ask(state: Shared, own: Own, context: PageContext, ids: Path<(i64, i64)>) -> PageResult {
    question(&state, &own, context, *ids, Form::default()).await
}

async fn question(
    state: &State,
    own: &Own,
    context: PageContext,
    (id, version): (i64, i64),
    mut form: Form,
) -> PageResult {
    let restored = state.engine.jobs().restorable(id, version, &context.actor).await?;
    let job = restored.job;
    let changes = change_lines(&context, "job", &restored.difference);
    let may_write = state.engine.cx.settings.scripts && context.may_write_scripts(&job.app_id);
    let lacks_right = restored.brings_script && !may_write;
    let asks_password = restored.brings_script && may_write && own.viewer.issuer.is_none();
    form.set("revision", job.revision.to_string());
    let status = form.status();
    let page = Question { changes, version, wrong: restored.wrong, lacks_right, asks_password, form, job, context };
    Ok(render(&page, status))
}

/// `POST /jobs/{id}/history/{revision}/restore`
pub async fn restore(
    state: Shared,
    own: Own,
    context: PageContext,
    ids: Path<(i64, i64)>,
    fields: Fields,
) -> PageResult {
    let (id, revision) = ids.into_inner();
    let history = format!("/jobs/{id}/history");
    let mut form = Form::from(fields);
    let password = form.take_own_password();
    let mut by = own.by.0.clone();
    // What is wrong with the definition is said below.
    if state.engine.jobs().restorable(id, revision, &by).await.is_ok_and(|it| it.brings_script) {
        if owner::check(&state, &own, &mut form, &password, &context, TOO_LATE).await?.is_none() {
            return question(&state, &own, context, (id, revision), form).await;
        }
        by = by.confirmed();
    }
    let expected = form.value("revision").parse().unwrap_or(-1);
    match state.declarations.restore_job(id, revision, Some(expected), &by).await {
        Ok(job) => {
            let text = context.t("job-is-restored").with("name", job.draft.name).with("version", revision);
            Ok(done(&format!("/jobs/{id}"), text))
        }
        Err(error @ (Error::Invalid(_) | Error::Unusable(_))) => {
            let why = context.say(&error.to_string());
            let text = context.t("job-not-restored").with("version", revision).with("why", why);
            Ok(refused(&history, text))
        }
        Err(Error::Changed(_)) => Ok(refused(&history, context.t("job-changed-meanwhile"))),
        Err(error) => Err(error.into()),
    }
}
