//! The script of a job: its source, its versions, and what differs between two of them. A new source needs the password.

use actix_web::web::{Path, Query};
use askama::Template;
use carillon_scheduler::{JobDraft, Millis, ScriptKind};
use carillon_store::{Job, ScriptVersion};
use serde::Deserialize;

use crate::web::console::account::owner;
use crate::web::console::account::page::Own;
use crate::web::console::jobs::script_diff::{DiffLine, diff};
use crate::web::forms::{Fields, Form, script_form};
use crate::web::page::{PageContext, PageResult, done, render};
use crate::web::state::{Shared, State};

/// For a person without a password who signed in too long ago.
pub const TOO_LATE: (&str, &str) =
    ("remark", "A script is saved within 15 minutes after signing in. Sign out, and sign in again.");

#[derive(Template)]
#[template(path = "jobs/script.html")]
struct Page {
    context: PageContext,
    job: Job,
    form: Form,
    versions: Vec<ScriptVersion>,
    /// The version whose source the form has, if it is a former one.
    former: Option<Millis>,
    /// What the former version has, and the current one has not, and the other way round.
    differences: Vec<DiffLine>,
    asks_password: bool,
    is_on: bool,
}

impl Page {
    fn kinds(&self) -> &'static [ScriptKind] {
        ScriptKind::ALL
    }
}

/// The version to look at.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Wanted {
    version: Option<Millis>,
}

/// `GET /jobs/{id}/script`
pub async fn page(state: Shared, own: Own, context: PageContext, id: Path<i64>, wanted: Query<Wanted>) -> PageResult {
    let job = state.engine.jobs().get(*id).await?;
    let current = job.draft.script.as_ref().and_then(|script| script.version);
    let source = async |version: Option<Millis>| match version {
        Some(version) => state.engine.jobs().script(*id, version, &own.by.0).await.map(Some),
        None => Ok(None),
    };
    let former = wanted.version.filter(|version| Some(*version) != current);
    let (now, then) = (source(current).await?, source(former).await?);
    let shown = then.as_ref().or(now.as_ref());
    let form = shown.map_or_else(Form::default, |(version, source)| {
        Form::default().with("type", version.kind.as_str()).with("source", source.as_str())
    });
    let differences = match (&then, &now) {
        (Some((_, then)), Some((_, now))) => diff(now, then),
        _ => vec![],
    };
    show(&state, context, &own, job, form.with("revision", ""), (former, differences)).await
}

async fn show(
    state: &State,
    context: PageContext,
    own: &Own,
    job: Job,
    mut form: Form,
    (former, differences): (Option<Millis>, Vec<DiffLine>),
) -> PageResult {
    form.set("revision", job.revision.to_string());
    let (status, versions) = (form.status(), state.engine.jobs().scripts(job.id, &own.by.0).await?);
    let (asks_password, is_on) = (own.viewer.issuer.is_none(), state.engine.cx.settings.scripts);
    Ok(render(&Page { context, job, form, versions, former, differences, asks_password, is_on }, status))
}

/// `POST /jobs/{id}/script`
pub async fn save(state: Shared, own: Own, context: PageContext, id: Path<i64>, fields: Fields) -> PageResult {
    let mut form = Form::from(fields);
    let password = form.take_own_password();
    let job = state.engine.jobs().get(*id).await?;
    let revision = form.value("revision").parse().unwrap_or(-1);
    if let Some(script) = script_form::script(&mut form) {
        let draft =
            JobDraft { handler: String::new(), script: Some(script), workflow: None, http: None, ..job.draft.clone() };
        form.accept(state.engine.jobs().check(&draft, Some(&job), &own.by.0).await)?;
        if form.is_valid() && owner::check(&state, &own, &mut form, &password, &context, TOO_LATE).await?.is_some() {
            let by = own.by.0.clone().confirmed();
            let saved = state.declarations.update_job(*id, &draft, Some(revision), &by).await;
            if let Some(job) = form.accept(saved)? {
                let text = context.t("script-is-saved").with("name", job.draft.name);
                return Ok(done(&format!("/jobs/{id}/script"), text));
            }
        }
    }
    show(&state, context, &own, job, form, (None, vec![])).await
}
