//! Sign-in by an OpenID Connect provider: authorization code with PKCE, state and nonce bound to the browser, and groups of the
//! provider as roles. Nothing outside of this folder names the crate `openidconnect`.

mod begun;
mod claims;
mod discovery;
mod group_roles;
mod http;
mod provider;
mod settings;
mod sign_in;

pub use group_roles::GroupRoles;
pub use provider::{Error, Provider};
pub use settings::{Settings, issuer_complaint};
pub use sign_in::{Finished, StartedSignIn, begin, finish};
