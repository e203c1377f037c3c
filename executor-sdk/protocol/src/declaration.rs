//! The jobs that a program declares in its code.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum size of the body of `POST /api/declare`, in bytes: 1 MiB.
pub const MAX_DECLARATION_BYTES: usize = 1 << 20;
/// The payload of the answer to a heartbeat whose [`DECLARED`](crate::headers::DECLARED) the admin does not know: it asks for the jobs.
pub const ASKS_FOR_DECLARATION: &str = "declare";

/// What becomes of differences between the code and the admin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeclarePolicy {
    /// What was changed in the admin is reported as drift and stays; jobs that are not of the code are not taken over.
    Warn,
    /// What was changed in the admin stays, and is shown as overridden. A job with the same name and handler is taken over as it is.
    #[default]
    Adopt,
    /// The members that the code names are as the code says, always.
    Enforce,
}

/// Body of `POST /api/declare`. Its digest is the SHA-256 of the body, as hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Declaration {
    /// Which build of the program declares them, such as `billing 4.2.1`.
    pub build: String,
    /// What the program asks for; the app's setting in the admin limits it.
    #[serde(default)]
    pub policy: DeclarePolicy,
    /// Sorted by key.
    pub jobs: Vec<DeclaredJob>,
}

/// A declared job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeclaredJob {
    /// Its key, unique in the app.
    pub key: String,
    /// The key that it had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// The source file that declares it.
    pub file: String,
    /// The line in it.
    pub line: u32,
    /// Members of a job, as `POST /api/v1/jobs` takes them, and only those that the code names: the others are the admin's. `children` and the
    /// jobs of nodes are keys of the same app.
    pub members: Map<String, Value>,
}

/// Parses the body of `POST /api/declare`.
///
/// # Errors
/// A message for the client.
pub fn parse_declaration(body: &[u8]) -> Result<Declaration, String> {
    serde_json::from_slice(body).map_err(|error| format!("the declaration cannot be read: {error}"))
}
