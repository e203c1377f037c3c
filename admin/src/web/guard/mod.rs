//! Who may send a request: session and form token of the console, API token of the API.

pub mod bearer;
pub mod client_address;
pub mod connection;
pub mod cookies;
pub mod csrf;
pub mod headers;
pub mod path_prefix;
pub mod request_id;
pub mod second_factor_rule;
pub mod session_cookie;
pub mod session_guard;
