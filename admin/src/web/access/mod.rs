//! Who may ask for what: each route names the access that it needs, and the router asks the policy before the handler runs.

mod authorize;
mod caller;
pub mod denial;
mod route;

pub use authorize::guarded;
pub use caller::Caller;
pub(crate) use route::access;
pub use route::{Access, Route, RouteEntry, Target, by_path};
