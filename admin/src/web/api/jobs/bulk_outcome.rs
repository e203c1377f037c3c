//! What actions for many objects have in common: their name and their objects in a request, and what became of them.

use std::future::Future;

use actix_web::web::Json;
use carillon_engine::manage::{BulkAction, BulkOutcome, BulkRequest, Refusal, Selection};
use utoipa::openapi::{ObjectBuilder, Type};

use crate::web::api::answer::{Answer, Error};
use crate::web::api::extract::{Caller, Key};
use crate::web::api::view::view;
use crate::web::state::State;

view! {
    /// What became of an action for many objects
    pub struct BulkView as BulkOutcome from outcome: BulkOutcome {
        /// How many are selected; 10,001: more than one request may have
        #[schema(minimum = 0)]
        matched: usize,
        /// With how many it was done; 0 for a dry run
        #[schema(minimum = 0)]
        done: usize,
        /// The others, by id
        refused: Vec<RefusalView>,
    }
}

view! {
    /// An object that was left as it is
    pub struct RefusalView as Refusal from refusal: Refusal {
        #[schema(minimum = 1)]
        id: i64,
        /// Why
        reason: String,
    }
}

/// The member that names the action.
pub fn action_schema(actions: &[&'static str]) -> ObjectBuilder {
    let words = actions.iter().copied();
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).description(Some("What is done with each"))
}

pub fn unknown_action(action: &str, allowed: &[&str]) -> Error {
    Error::field("action", format!("`{action}` is not an action; allowed: {}", allowed.join(", ")))
}

/// The objects of `ids`, or of `filter`.
pub async fn selection<F>(
    ids: Option<Vec<i64>>,
    filter: Option<impl Future<Output = Result<F, Error>>>,
) -> Result<Selection<F>, Error> {
    match (ids, filter) {
        (Some(ids), None) => Ok(Selection::Ids(ids)),
        (None, Some(filter)) => Ok(Selection::Filter(filter.await.map_err(|error| error.inside("filter"))?)),
        _ => Err(Error::field("ids", "give either `ids` or `filter`")),
    }
}

/// Refuses the members that are given and do not belong to the action: each with the actions that it belongs to.
pub fn refuse_others(action: &str, members: &[(&'static str, bool, &[&str])]) -> Result<(), Error> {
    match members.iter().find(|(_, is_given, actions)| *is_given && !actions.contains(&action)) {
        Some((name, ..)) => Err(Error::field(*name, format!("does not belong to the action `{action}`"))),
        None => Ok(()),
    }
}

/// A member without which the action cannot be done.
pub fn needed<T: Clone>(name: &'static str, value: Option<&T>) -> Result<T, Error> {
    value.cloned().ok_or_else(|| Error::field(name, "is missing; the action needs it"))
}

/// Does it; of a dry run, counts the objects.
pub async fn carry_out<A: BulkAction>(
    state: &State,
    (caller, key): (&Caller, &Key),
    action: A,
    selection: Selection<A::Filter>,
    (expected, is_dry_run): (Option<usize>, bool),
) -> Answer<BulkView> {
    if is_dry_run {
        let matched = state.engine.selected(&selection, &action, &caller.0).await?.len();
        return Ok(Json(BulkView { matched, done: 0, refused: vec![] }));
    }
    let request = BulkRequest { selection: &selection, action, expected, idempotency_key: key.0.as_deref() };
    Ok(Json(state.engine.do_with_all(request, &caller.0).await?.into()))
}
