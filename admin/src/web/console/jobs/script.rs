//! The script of a job: its source, its versions, and what differs between two of them. A new source needs the password.

use actix_web::web::{Path, Query};
use askama::Template;
use carillon_accounts::own_password::{self, OwnerCheck};
use carillon_scheduler::{JobDraft, Millis, ScriptDraft, ScriptKind};
use carillon_store::Job;
use carillon_store::ScriptVersion;
use serde::Deserialize;

use crate::web::console::account::page::Own;
use crate::web::console::account::second_factor::wait_text;
use crate::web::console::jobs::script_diff::{DiffLine, diff};
use crate::web::forms::{Fields, Form, line_ends};
use crate::web::page::{PageContext, PageError, PageResult, done, render};
use crate::web::state::{Shared, State};

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
    // The password does not go back into the page.
    let password = fields.get("own_password").to_owned();
    let mut form = Form::from(fields).with("own_password", "");
    let job = state.engine.jobs().get(*id).await?;
    let revision = form.value("revision").parse().unwrap_or(-1);
    let source = line_ends::plain(form.value("source"));
    match form.value("type").parse::<ScriptKind>() {
        Ok(kind) => {
            let script = ScriptDraft::new(kind, source, form.value("remark"));
            let draft = JobDraft { handler: String::new(), script: Some(script), ..job.draft.clone() };
            form.accept(state.engine.jobs().check(&draft, Some(&job), &own.by.0).await)?;
            if form.is_valid() && is_owner(&state, &own, &mut form, &password, &context).await? {
                let by = own.by.0.clone().confirmed();
                let saved = state.engine.jobs().update(*id, &draft, Some(revision), &by).await;
                if let Some(job) = form.accept(saved)? {
                    let text = context.t("script-is-saved").with("name", job.draft.name);
                    return Ok(done(&format!("/jobs/{id}/script"), text));
                }
            }
        }
        Err(error) => form.add_error("type", error.to_string()),
    }
    show(&state, context, &own, job, form, (None, vec![])).await
}

/// Whether the owner of the account is at the browser; if not, the form says what is missing.
async fn is_owner(
    state: &State,
    own: &Own,
    form: &mut Form,
    password: &str,
    context: &PageContext,
) -> Result<bool, PageError> {
    let now = state.clock.now();
    match own_password::check_owner(&state.store, &own.viewer, password, own.client(), now).await? {
        OwnerCheck::Right { .. } => return Ok(true),
        OwnerCheck::WrongPassword => form.add_error("own_password", "This is not your password."),
        OwnerCheck::Throttled { until_at } => {
            form.add_error("own_password", wait_text(context.language, until_at, now));
        }
        OwnerCheck::SignInAgain => {
            form.add_error(
                "remark",
                "A script is saved within 15 minutes after signing in. Sign out, and sign in again.",
            );
        }
    }
    Ok(false)
}
