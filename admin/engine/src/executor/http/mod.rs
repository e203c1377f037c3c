//! Requests of HTTP jobs: what is sent, and what an answer means. No executor takes part: the answer is the result of the run.

mod access_tokens;
mod answer;
mod callback;
mod log;
mod request;
mod sender;
mod signature;

pub use answer::HttpOutcome;
pub use callback::CallbackUrls;
pub use sender::{HttpRun, HttpSender, SentOnce, seal_context};
