//! Which jobs, from a query string or from the body of a bulk request.

use carillon_scheduler::{KindDraft, RunState, check_tag};
use carillon_store::JobFilter;
use carillon_store::job::filter::RESULTS;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::web::api::error::Error;
use crate::web::api::extract::{Caller, Query};
use crate::web::api::view::words;
use crate::web::state::State;

/// Which jobs: those for which all members hold
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobFilterRequest {
    /// Part of the name, the handler, the description or a tag, or the whole id
    text: Option<String>,
    /// The app's name
    app: Option<String>,
    /// The whole owner
    owner: Option<String>,
    /// One of its tags
    tag: Option<String>,
    /// true: only enabled jobs; false: only paused jobs
    enabled: Option<bool>,
    /// The schedule's kind
    #[schema(value_type = Option<words::ScheduleKind>)]
    kind: Option<String>,
    /// The result of the last run that has one, among the newest 20,000 runs: any of these states
    #[serde(default)]
    #[schema(value_type = Vec<words::RunState>, required = false)]
    last_result: Vec<String>,
}

impl JobFilterRequest {
    pub fn read(query: &Query) -> Result<Self, Error> {
        Ok(Self {
            text: query.text("text")?,
            app: query.text("app")?,
            owner: query.text("owner")?,
            tag: query.text("tag")?,
            enabled: query.flag("enabled")?,
            kind: query.text("kind")?,
            last_result: query.words("last_result")?,
        })
    }

    /// # Errors
    /// Names a member whose value cannot be found at all.
    pub async fn resolve(self, state: &State, caller: &Caller) -> Result<JobFilter, Error> {
        refuse_nul([("text", &self.text), ("app", &self.app), ("owner", &self.owner)])?;
        if let Some(app) = &self.app {
            state.engine.apps().named(app, &caller.0).await?;
        }
        if let Some(Err(message)) = self.tag.as_deref().map(check_tag) {
            return Err(Error::field("tag", message));
        }
        if let Some(kind) = self.kind.as_deref().filter(|kind| !KindDraft::WORDS.contains(kind)) {
            let allowed = KindDraft::WORDS.join(", ");
            return Err(Error::field("kind", format!("{kind:?} is not allowed here; one of {allowed}")));
        }
        let results = self.last_result.iter().map(|word| result(word)).collect::<Result<_, _>>()?;
        Ok(JobFilter {
            apps: caller.visible(),
            text: self.text,
            app: self.app,
            owner: self.owner,
            tag: self.tag,
            enabled: self.enabled,
            kind: self.kind,
            last_results: results,
            ..JobFilter::default()
        })
    }
}

/// In the body of a request it may be written, and no database looks for it.
pub fn refuse_nul<'a>(members: impl IntoIterator<Item = (&'static str, &'a Option<String>)>) -> Result<(), Error> {
    let has_nul = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains('\0'));
    match members.into_iter().find(|(_, text)| has_nul(text)) {
        Some((name, _)) => Err(Error::field(name, "must not contain the character NUL")),
        None => Ok(()),
    }
}

fn result(word: &str) -> Result<RunState, Error> {
    let allowed = || RESULTS.map(RunState::as_str).join(", ");
    let found = word.parse().ok().filter(|state| RESULTS.contains(state));
    found.ok_or_else(|| Error::field("last_result", format!("{word:?} is not allowed here; one of {}", allowed())))
}
