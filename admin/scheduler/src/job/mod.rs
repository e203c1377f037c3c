//! A job's definition: as a user writes it ([`JobDraft`]), and what its check parses ([`JobSpec`]).

mod best_effort;
mod block;
mod digest;
mod draft;
mod durability;
pub mod http;
mod labels;
pub mod limits;
pub(crate) mod parts;
pub mod placeholders;
mod script;
pub mod secret_params;
mod spec;
mod template;
mod validate;
#[cfg(test)]
mod validate_tests;

pub use block::BlockStrategy;
pub use digest::hex_digest;
pub use draft::JobDraft;
pub use durability::Durability;
pub use http::{HttpAuth, HttpDraft, HttpMethod};
pub use labels::{NOTES, Note, check_key, check_tag};
pub use parts::Parts;
pub use script::{ScriptDraft, ScriptKind};
pub use spec::JobSpec;
pub use template::JobTemplate;
pub use validate::{check_priority, check_split, validate_app_name};
