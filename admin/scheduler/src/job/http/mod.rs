//! HTTP jobs: a request that the admin itself sends in place of a handler, and which answers count as success.

mod auth;
mod check;
mod draft;
mod expect;
mod fill;
mod mask;
mod template;
mod url;
mod values;

pub use auth::{BasicAuth, HmacSecrets, HttpAuth, OauthClient};
pub use check::is_reserved_header;
pub use draft::{HttpDraft, HttpMethod, MOST_CALLBACK_SECONDS, MOST_TIMEOUT_SECONDS};
pub use expect::{ExpectDraft, StatusRanges};
pub use fill::FilledRequest;
pub use mask::masked;
pub use template::check_secret_name;
pub use values::{HttpValues, Unfillable};
