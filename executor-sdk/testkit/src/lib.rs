#![doc = include_str!("../README.md")]
#![warn(missing_docs)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod admin_client;
mod api_client;
mod authority;
mod clock;
mod http_stub;
mod port;
mod program;
mod recording_executor;
mod stub_admin;
mod wait;

pub use admin_client::AdminClient;
pub use api_client::{Answer, ApiClient, http_client};
pub use authority::{Authority, CertificatePair};
pub use carillon_executor::{JobContext, JobContextBuilder};
pub use clock::now_ms;
pub use http_stub::{Call, HttpStub, Reply};
pub use port::{ReservedPort, free_port};
pub use program::{Memory, Process, Program, ProgramSettings, Usage};
pub use recording_executor::{Callback, Receipt, RecordingExecutor};
pub use stub_admin::{StubAdmin, item_results, map_pages, results};
pub use wait::{LIMIT, wait_for};
