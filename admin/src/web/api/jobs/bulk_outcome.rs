//! What actions for many objects have in common: their name in a request, and what became of them.

use carillon_engine::manage::{BulkOutcome, Refusal};
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

impl BulkView {
    pub fn dry(matched: usize) -> Self {
        Self { matched, done: 0, refused: vec![] }
    }
}
