//! What the programs of an app declare in their code, and what has become of it.

use actix_web::web::Path;
use askama::Template;
use carillon_declared::{AppDeclarations, DeclaredJobView};
use carillon_engine::Error;
use carillon_scheduler::FieldError;
use carillon_store::{App, DeclarationSetting};

use crate::web::access::Caller;
use crate::web::console::badge::{Badge, declared_badge};
use crate::web::forms::Form;
use crate::web::locale::Message;
use crate::web::page::{PageContext, PageResult, done, show};
use crate::web::state::Shared;

#[derive(Template)]
#[template(path = "apps/declarations.html")]
struct Page {
    context: PageContext,
    app: App,
    all: AppDeclarations,
}

impl Page {
    fn badge(&self, job: &DeclaredJobView) -> Badge {
        declared_badge(job.state)
    }

    fn differences(&self, job: &DeclaredJobView) -> Vec<Message> {
        differences(&self.context, job)
    }

    /// The settings with the keys of their texts.
    fn settings(&self) -> [(DeclarationSetting, &'static str); 3] {
        [
            (DeclarationSetting::Report, "declared-setting-report"),
            (DeclarationSetting::Apply, "declared-setting-apply"),
            (DeclarationSetting::Off, "declared-setting-off"),
        ]
    }
}

/// The members that are not as the code says, each in a line.
pub fn differences(context: &PageContext, job: &DeclaredJobView) -> Vec<Message> {
    let line = |finding: &carillon_declared::Finding| {
        let text = context.t("declared-member").with("member", &finding.member);
        text.with("code", &finding.code).with("here", &finding.here)
    };
    job.findings.iter().map(line).collect()
}

/// `GET /apps/{id}/declarations`
pub async fn page(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let app = state.engine.apps().get(*id).await?;
    let all = state.declarations.of_app(&app).await?;
    Ok(show(&Page { context, app, all }))
}

/// `POST /apps/{id}/declarations`
pub async fn set(state: Shared, by: Caller, context: PageContext, id: Path<i64>, form: Form) -> PageResult {
    let setting: Result<DeclarationSetting, _> = form.value("setting").parse();
    let setting = setting.map_err(|error| Error::Invalid(vec![FieldError::new("setting", error.to_string())]))?;
    state.declarations.set(*id, setting, &by.0).await?;
    Ok(done(&format!("/apps/{id}/declarations"), context.t("declared-saved")))
}
