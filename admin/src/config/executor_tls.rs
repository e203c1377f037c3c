//! Certificates of the connections to https executors, read from their files.

use std::path::Path;

use carillon_engine::executor::{ClientTls, ClientTlsPart};

use crate::config::problem::Problem;
use crate::config::tls::TlsSettings;

const CA: &str = "executor-ca";
const CERT: &str = "executor-client-cert";

impl TlsSettings {
    /// What is shown to https executors, and asked of them.
    ///
    /// # Errors
    /// A file that cannot be read or used.
    pub fn to_executors(&self) -> Result<ClientTls, Problem> {
        let read = |setting, path: &Path| {
            std::fs::read(path).map_err(|error| wrong(setting, path, &format!("cannot read it: {error}")))
        };
        let authority = self.executor_ca.as_deref().map(|path| read(CA, path)).transpose()?;
        let identity = match (&self.executor_client_cert, &self.executor_client_key) {
            (Some(cert), Some(key)) => Some([read(CERT, cert)?, read("executor-client-key", key)?].concat()),
            _ => None,
        };
        ClientTls::from_pem(authority.as_deref(), identity.as_deref()).map_err(|(part, what)| {
            let (setting, path) = match part {
                ClientTlsPart::Authority => (CA, &self.executor_ca),
                ClientTlsPart::Identity => (CERT, &self.executor_client_cert),
            };
            wrong(setting, path.as_deref().unwrap_or(Path::new("")), &what)
        })
    }
}

fn wrong(setting: &'static str, path: &Path, what: &str) -> Problem {
    Problem::new(setting, format!("{}: {what}; name a PEM file", path.display()))
}
