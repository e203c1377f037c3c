//! Certificates of the connections to https executors.

use reqwest::{Certificate, ClientBuilder, Identity};

use crate::executor::outcome::innermost;

/// Whose certificates are accepted, and what is shown to an executor that asks for one.
#[derive(Clone, Default)]
pub struct ClientTls {
    authorities: Vec<Certificate>,
    identity: Option<Identity>,
}

/// Which of them cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientTlsPart {
    Authority,
    Identity,
}

impl ClientTls {
    /// From PEM texts. Without an authority, those count that this machine trusts. `identity`: a certificate and its key.
    ///
    /// # Errors
    /// What cannot be used, and why.
    pub fn from_pem(authority: Option<&[u8]>, identity: Option<&[u8]>) -> Result<Self, (ClientTlsPart, String)> {
        let wrong = |part| move |error: reqwest::Error| (part, innermost(&error));
        let authorities = match authority {
            None => vec![],
            Some(pem) => match Certificate::from_pem_bundle(pem).map_err(wrong(ClientTlsPart::Authority))? {
                all if all.is_empty() => {
                    return Err((ClientTlsPart::Authority, "it holds no certificate in PEM form".to_owned()));
                }
                all => all,
            },
        };
        let identity = identity.map(Identity::from_pem).transpose().map_err(wrong(ClientTlsPart::Identity))?;
        Ok(Self { authorities, identity })
    }

    pub(super) fn apply(self, client: ClientBuilder) -> ClientBuilder {
        let client = match self.authorities.is_empty() {
            true => client,
            false => client.tls_certs_only(self.authorities),
        };
        match self.identity {
            Some(identity) => client.identity(identity),
            None => client,
        }
    }
}
