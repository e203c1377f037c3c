//! `/runs`: the list, and which runs.

use actix_web::web::Json;
use carillon_scheduler::{Cause, RunState};
use carillon_store::{RunFilter, RunSort};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Caller, Query};
use crate::web::api::jobs::check_texts;
use crate::web::api::view::{List, RunView, Time, words};
use crate::web::state::{Shared, State};

/// Which runs: those for which all members hold
#[derive(Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunFilterRequest {
    /// Of this job
    #[schema(minimum = 1)]
    job_id: Option<i64>,
    /// Of this app
    app: Option<String>,
    /// Of jobs with this owner
    owner: Option<String>,
    /// Of jobs with this tag
    tag: Option<String>,
    /// Part of the job's name or of the result, or the whole id
    text: Option<String>,
    /// In any of these states
    #[serde(default)]
    #[schema(value_type = Vec<words::RunState>, required = false)]
    state: Vec<String>,
    /// With this cause
    #[schema(value_type = Option<words::Cause>)]
    cause: Option<String>,
    /// `scheduled_at` at or after this
    from: Option<Time>,
    /// `scheduled_at` before this
    to: Option<Time>,
}

impl RunFilterRequest {
    fn read(query: &Query) -> Result<Self, Error> {
        Ok(Self {
            job_id: query.id("job_id")?,
            app: query.text("app")?,
            owner: query.text("owner")?,
            tag: query.text("tag")?,
            text: query.text("text")?,
            state: query.words("state")?,
            cause: query.text("cause")?,
            from: query.time("from")?.map(Time),
            to: query.time("to")?.map(Time),
        })
    }

    /// # Errors
    /// Names a member whose value cannot be found at all.
    pub async fn resolve(self, state: &State, caller: &Caller) -> Result<RunFilter, Error> {
        check_texts(state, caller, [&self.text, &self.app, &self.owner, &self.tag]).await?;
        let states = self.state.iter().map(|word| self::word("state", word)).collect::<Result<Vec<RunState>, _>>()?;
        let cause = self.cause.map(|word| self::word::<Cause>("cause", &word)).transpose()?;
        Ok(RunFilter {
            apps: caller.visible(),
            job_id: self.job_id,
            app: self.app,
            owner: self.owner,
            tag: self.tag,
            text: self.text,
            states,
            cause,
            from: self.from.map(|from| from.0),
            to: self.to.map(|to| to.0),
            ..RunFilter::default()
        })
    }
}

fn word<T: std::str::FromStr<Err: std::fmt::Display>>(field: &str, word: &str) -> Result<T, Error> {
    word.parse().map_err(|error: T::Err| Error::field(field, error.to_string()))
}

pub async fn list(state: Shared, caller: Caller, query: Query) -> Answer<List<RunView, i64>> {
    let wanted = format!("one of {}", RunSort::WORDS.join(", "));
    let sort = query.parsed("sort", &wanted, RunSort::from_word)?.unwrap_or_default();
    let filter = RunFilterRequest::read(&query)?.resolve(&state, &caller).await?;
    let filter = RunFilter { sort, after: query.id("after")?, limit: query.limit()?, ..filter };
    let page = state.store.runs().list(&filter).await?;
    Ok(Json(List::from_page(page, RunView::from, |id| id)))
}
