//! Certificates: what an executor shows to admins, and whose certificates it accepts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use carillon_listener::{Tls, TlsFile, TlsFiles};
use reqwest::{Certificate, ClientBuilder, Identity};

use crate::error::Error;

/// PEM files with a certificate and its private key.
type Pair = (PathBuf, PathBuf);

#[derive(Clone, Debug, Default)]
pub(crate) struct Certificates {
    /// Of the executor's own server; none: plain HTTP.
    pub(crate) server: Option<Pair>,
    /// Admins must show a certificate of this authority.
    pub(crate) client_ca: Option<PathBuf>,
    /// The authority of the admins' certificates; none: those that this machine trusts.
    pub(crate) admin_ca: Option<PathBuf>,
    /// What is shown to admins that ask for a certificate.
    pub(crate) client: Option<Pair>,
}

impl Certificates {
    /// What the server needs for its handshakes; none: plain HTTP.
    pub(crate) fn server(&self) -> Result<Option<Arc<Tls>>, Error> {
        let Some((cert, key)) = self.server.clone() else {
            let wrong = "needs tls(): without it the executor speaks plain HTTP, which knows no certificates";
            return self.client_ca.as_ref().map_or(Ok(None), |_| Err(Error::setting("client_ca", wrong)));
        };
        let loaded = Tls::load(TlsFiles { cert, key, client_ca: self.client_ca.clone() });
        loaded.map(Some).map_err(|error| {
            let name = if error.file == TlsFile::ClientCa { "client_ca" } else { "tls" };
            Error::setting(name, error.to_string())
        })
    }

    /// The client for requests to admins.
    pub(crate) fn apply(&self, client: ClientBuilder) -> Result<ClientBuilder, Error> {
        let client = match &self.admin_ca {
            None => client,
            Some(path) => {
                let wrong = |what: &dyn std::fmt::Display| problem("admin_ca", path, what);
                let all = Certificate::from_pem_bundle(&read("admin_ca", path)?).map_err(|error| wrong(&error))?;
                if all.is_empty() {
                    return Err(wrong(&"it holds no certificate in PEM form"));
                }
                client.tls_certs_only(all)
            }
        };
        let Some((cert, key)) = &self.client else {
            return Ok(client);
        };
        let pem = [read("client_certificate", cert)?, read("client_certificate", key)?].concat();
        let identity = Identity::from_pem(&pem).map_err(|error| problem("client_certificate", cert, &error))?;
        Ok(client.identity(identity))
    }
}

fn read(name: &'static str, path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| problem(name, path, &format!("cannot read it: {error}")))
}

fn problem(name: &'static str, path: &Path, what: &dyn std::fmt::Display) -> Error {
    Error::setting(name, format!("{}: {what}", path.display()))
}
