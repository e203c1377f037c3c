//! What actions for many objects have in common: their name in a request, and what became of them.

use carillon_engine::manage::{BulkOutcome, Refusal};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use crate::web::api::error::Error;

/// What became of an action for many objects
#[derive(Serialize, ToSchema)]
#[schema(as = BulkOutcome)]
pub struct BulkView {
    /// How many are selected; 10,001: more than one request may have
    #[schema(minimum = 0)]
    matched: usize,
    /// With how many it was done; 0 for a dry run
    #[schema(minimum = 0)]
    done: usize,
    /// The others, by id
    refused: Vec<RefusalView>,
}

/// An object that was left as it is
#[derive(Serialize, ToSchema)]
#[schema(as = Refusal)]
pub struct RefusalView {
    #[schema(minimum = 1)]
    id: i64,
    /// Why
    reason: String,
}

/// The member that names the action.
pub fn action_schema(actions: &[&'static str]) -> ObjectBuilder {
    let words = actions.iter().copied();
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).description(Some("What is done with each"))
}

pub fn unknown_action(action: &str, allowed: &[&str]) -> Error {
    Error::field("action", format!("`{action}` is not an action; allowed: {}", allowed.join(", ")))
}

impl BulkView {
    pub fn dry(matched: usize) -> Self {
        Self { matched, done: 0, refused: vec![] }
    }
}

impl From<BulkOutcome> for BulkView {
    fn from(outcome: BulkOutcome) -> Self {
        let refusal = |Refusal { id, reason }| RefusalView { id, reason };
        let refused = outcome.refused.into_iter().map(refusal).collect();
        Self { matched: outcome.matched, done: outcome.done, refused }
    }
}
