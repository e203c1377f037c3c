//! Requests of HTTP jobs: what is sent, and what an answer means. No executor takes part: the answer is the result of the run.

mod access_tokens;
mod answer;
pub(crate) mod callback;
mod credentials;
mod log;
mod request;
mod send_once;
mod sender;
mod signature;

pub use answer::HttpOutcome;
pub use callback::CallbackUrls;
pub use credentials::seal_context;
pub use send_once::SentOnce;
pub use sender::{HttpRun, HttpSender};
