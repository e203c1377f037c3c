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
        check_texts(state, caller, [&self.text, &self.app, &self.owner, &self.tag]).await?;
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

/// Checks the filters that jobs and runs have. The character NUL may be written in a body, and no database looks for it.
pub async fn check_texts(
    state: &State,
    caller: &Caller,
    [text, app, owner, tag]: [&Option<String>; 4],
) -> Result<(), Error> {
    for (name, value) in [("text", text), ("app", app), ("owner", owner)] {
        if value.as_ref().is_some_and(|value| value.contains('\0')) {
            return Err(Error::field(name, "must not contain the character NUL"));
        }
    }
    if let Some(app) = app {
        state.engine.apps().named(app, &caller.0).await?;
    }
    tag.as_deref().map_or(Ok(()), check_tag).map_err(|message| Error::field("tag", message))
}

fn result(word: &str) -> Result<RunState, Error> {
    let allowed = || RESULTS.map(RunState::as_str).join(", ");
    let found = word.parse().ok().filter(|state| RESULTS.contains(state));
    found.ok_or_else(|| Error::field("last_result", format!("{word:?} is not allowed here; one of {}", allowed())))
}
