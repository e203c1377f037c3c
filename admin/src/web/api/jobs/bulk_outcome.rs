//! What actions for many objects have in common: their name and their objects in a request, and what became of them.

use std::future::Future;

use carillon_engine::manage::{BulkOutcome, Refusal, Selection};
use utoipa::openapi::{ObjectBuilder, Type};

use crate::web::api::error::Error;
use crate::web::api::view::view;

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

/// Refuses the members that are given and are not among `own`, those of the action.
pub fn refuse_others(action: &str, own: &[&str], members: &[(&'static str, bool)]) -> Result<(), Error> {
    match members.iter().find(|(name, is_given)| *is_given && !own.contains(name)) {
        Some((name, _)) => Err(Error::field(*name, format!("does not belong to the action `{action}`"))),
        None => Ok(()),
    }
}

/// A member without which the action cannot be done.
pub fn needed<T: Clone>(name: &'static str, value: Option<&T>) -> Result<T, Error> {
    value.cloned().ok_or_else(|| Error::field(name, "is missing; the action needs it"))
}

impl BulkView {
    pub fn dry(matched: usize) -> Self {
        Self { matched, done: 0, refused: vec![] }
    }
}
