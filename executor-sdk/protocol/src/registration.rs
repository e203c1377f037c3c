//! Heartbeat and deregistration of an executor.

use serde::Serialize;

use crate::members::{self, members};

/// `registryGroup` of every executor.
pub const EXECUTOR_GROUP: &str = "EXECUTOR";

/// Body of `POST /api/registry` and `/api/registryRemove`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Registration {
    /// [`EXECUTOR_GROUP`].
    #[serde(rename = "registryGroup")]
    pub group: String,
    /// Name of the app.
    #[serde(rename = "registryKey")]
    pub key: String,
    /// The address that the admin calls, `http://host:port`, with or without a final slash. It identifies the executor, so it
    /// is kept unchanged.
    #[serde(rename = "registryValue")]
    pub value: String,
}

impl Registration {
    /// An executor of `app` at `address`.
    pub fn executor(app: impl Into<String>, address: impl Into<String>) -> Self {
        Self { group: EXECUTOR_GROUP.to_owned(), key: app.into(), value: address.into() }
    }
}

members! {
    Registration: "a registration, which is a JSON object" {
        "registryGroup" => group: text,
        "registryKey" => key: text,
        "registryValue" => value: text,
    }
}

/// Parses a registration.
///
/// # Errors
/// A message for the client: no JSON object, or the name of the member that is missing or blank (Java's admin answers only
/// `Illegal Argument.`).
pub fn parse_registration(body: &[u8]) -> Result<Registration, String> {
    let registration: Registration = members::parse(body)?;
    for (name, value) in [
        ("registryGroup", &registration.group),
        ("registryKey", &registration.key),
        ("registryValue", &registration.value),
    ] {
        if value.trim().is_empty() {
            return Err(format!("{name} is missing or blank"));
        }
    }
    Ok(registration)
}
