//! A job's definition: as a user writes it ([`JobDraft`]), and what its check parses ([`JobSpec`]).

mod block;
mod draft;
mod durability;
pub mod http;
mod labels;
pub mod limits;
pub(crate) mod parts;
pub mod placeholders;
mod script;
mod spec;
mod validate;
#[cfg(test)]
mod validate_tests;

pub use block::BlockStrategy;
pub use draft::JobDraft;
pub use durability::Durability;
pub use http::{HttpAuth, HttpDraft, HttpMethod};
pub use labels::{check_key, check_tag};
pub use parts::Parts;
pub use script::{ScriptDraft, ScriptKind};
pub use spec::JobSpec;
pub use validate::{check_split, validate_app_name};
