//! `/apps/{id}/declarations`: what the programs of an app declare in their code, and what has become of it.

use actix_web::web::Json;
use carillon_declared::{AppDeclarations, DeclaredJobView as Declared, Finding};
use carillon_scheduler::FieldError;
use carillon_store::DeclarationSetting;
use carillon_store::app::declared::declarations::Declaration;
use serde_json::Value;

use crate::web::api::answer::Answer;
use crate::web::api::extract::{Body, Caller, Id, request};
use crate::web::api::view::{Time, view, words};
use crate::web::state::Shared;

view! {
    /// What the programs of an app declare
    pub struct DeclarationsView as Declarations from all: AppDeclarations {
        #[schema(value_type = words::DeclarationSetting)]
        setting: &'static str = all.setting.as_str(),
        /// The declarations that live executors announce. The first one that was not refused counts
        live: Vec<DeclarationView>,
        /// By key
        jobs: Vec<DeclaredJobView>,
    }
}

view! {
    /// The declaration of a build
    pub struct DeclarationView as Declaration from declaration: Declaration {
        /// The SHA-256 of what it declares
        digest: String,
        /// Name and version of the program
        build: String,
        /// When an executor announced it for the first time
        first_seen_at: Time,
        /// Why it was refused as a whole; empty: it was not
        problem: String,
    }
}

view! {
    /// A declared job
    pub struct DeclaredJobView as DeclaredJob from job: Declared {
        /// Its key
        #[schema(min_length = 1, max_length = 64)]
        key: String,
        /// The number of the job; null: there is none for it
        #[schema(minimum = 1)]
        job_id: Option<i64>,
        #[schema(value_type = words::DeclaredState)]
        state: &'static str = job.state.as_str(),
        /// The build that declares it, or the last one that did
        build: String,
        #[schema(value_type = words::DeclarePolicy)]
        policy: String,
        /// File and line of its source
        place: String,
        /// The members that the code names
        members: Vec<String>,
        /// The members that are not as the code says
        differences: Vec<DeclaredDifferenceView> = job.findings.clone().into_iter().map(Into::into).collect(),
        /// Why the code was refused; empty: it was not
        problem: String,
        /// Since when it is in this state
        since: Time,
    }
}

view! {
    /// A member that is not as the code says
    pub struct DeclaredDifferenceView as DeclaredDifference from finding: Finding {
        /// Its name, as in a job
        member: String,
        /// What the code says
        code: Value = finding.code,
        /// What the job has
        here: Value = finding.here,
        /// When it was found
        since: Time,
    }
}

pub async fn get(state: Shared, id: Id) -> Answer<DeclarationsView> {
    let app = state.engine.apps().get(id.0).await?;
    Ok(Json(state.declarations.of_app(&app).await?.into()))
}

request! {
    /// What becomes of an app's declarations
    pub struct DeclarationRequest: "what becomes of declarations, such as {\"setting\":\"apply\"}" {
        #[schema(value_type = words::DeclarationSetting)]
        setting: String,
    }
}

pub async fn set(state: Shared, id: Id, caller: Caller, body: Body<DeclarationRequest>) -> Answer<DeclarationsView> {
    let setting: Result<DeclarationSetting, _> = body.0.setting.parse();
    let setting = setting
        .map_err(|error| carillon_engine::Error::Invalid(vec![FieldError::new("setting", error.to_string())]))?;
    state.declarations.set(id.0, setting, &caller.0).await?;
    get(state, id).await
}
