//! `/jobs/{id}/history`: the definitions that a job has had.

use actix_web::web::Json;
use carillon_store::Page;
use carillon_store::job::revisions::Revision;
use serde_json::Value;

use super::list::with_next_fire;
use crate::web::api::answer::Answer;
use crate::web::api::extract::{Caller, Id, Query, RevisionNumber};
use crate::web::api::view::{JobView, List, Time, view, words};
use crate::web::state::Shared;

view! {
    /// A change of a job, and the definition that it made
    pub struct RevisionView as Revision from row: Revision {
        /// The whole definition is known and can be restored
        restorable: bool = row.is_known(),
        /// Null: an entry of an earlier version does not say it
        #[schema(minimum = 1)]
        revision: Option<i64> = row.number,
        at: Time = Time(row.change.at),
        actor: String = row.change.actor,
        #[schema(value_type = words::AuditAction)]
        action: String = row.change.action,
        /// The members that it changed, as they were. Null of the first one, and where the job came from an app that the caller does not
        /// see
        #[schema(value_type = Option<Object>)]
        before: Option<Value> = Some(row.before).filter(|members| !members.is_null()),
        /// The members that it changed, as they became
        #[schema(value_type = Option<Object>)]
        after: Option<Value> = Some(row.after).filter(|members| !members.is_null()),
    }
}

pub async fn history(state: Shared, id: Id, caller: Caller, query: Query) -> Answer<List<RevisionView, i64>> {
    let (after, limit) = (query.id("after")?, query.limit()? as usize);
    let (_, mut found) = state.engine.jobs().history(id.0, &caller.0).await?;
    if let Some(after) = after {
        found.retain(|revision| revision.number.is_some_and(|number| number < after));
    }
    let next = found.get(limit).and_then(|_| found[limit - 1].number);
    found.truncate(limit);
    Ok(Json(List::from_page(Page { items: found, next }, RevisionView::from, |number| number)))
}

pub async fn restore(state: Shared, id: Id, revision: RevisionNumber, caller: Caller, query: Query) -> Answer<JobView> {
    let expected = query.id("expected")?;
    let job = state.declarations.restore_job(id.0, revision.0, expected, &caller.0).await?;
    with_next_fire(&state, job).await
}
