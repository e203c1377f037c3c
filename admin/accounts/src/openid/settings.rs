//! The settings of the provider, and what is wrong with them.

use std::fmt;
use std::path::PathBuf;

use reqwest::Certificate;
use url::{Host, Url};

use crate::openid::group_roles::GroupRoles;

/// How this program is known to a provider, and what the provider's groups may do here.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// As the provider spells itself; its description is at `/.well-known/openid-configuration` below it.
    pub issuer: String,
    pub client_id: String,
    /// None: a public client, which PKCE alone protects.
    pub client_secret: Option<String>,
    /// The claim that names the groups of a person.
    pub groups_claim: String,
    pub roles: GroupRoles,
    /// What is asked for beside `openid`.
    pub scopes: Vec<String>,
    /// The provider's name on the sign-in page.
    pub name: String,
    /// A PEM file with the authority of the provider's certificate. None: those that this machine trusts.
    pub ca: Option<PathBuf>,
}

impl Settings {
    pub fn new(issuer: impl Into<String>, client_id: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            client_id: client_id.into(),
            client_secret: None,
            groups_claim: "groups".to_owned(),
            roles: GroupRoles::default(),
            scopes: vec!["profile".to_owned(), "email".to_owned()],
            name: "single sign-on".to_owned(),
            ca: None,
        }
    }
}

impl Settings {
    /// The authorities of the file.
    ///
    /// # Errors
    /// It cannot be read, or holds none.
    pub fn authorities(&self) -> Result<Option<Vec<Certificate>>, String> {
        let Some(path) = &self.ca else { return Ok(None) };
        let wrong = |what: &str| format!("{}: {what}; name a PEM file", path.display());
        let pem = std::fs::read(path).map_err(|error| wrong(&format!("cannot read it: {error}")))?;
        match Certificate::from_pem_bundle(&pem) {
            Ok(all) if !all.is_empty() => Ok(Some(all)),
            _ => Err(wrong("it holds no certificate in PEM form")),
        }
    }
}

/// What is wrong with the address of a provider: tokens and secrets go there, so it must be encrypted, unless it is this machine.
pub fn issuer_complaint(issuer: &str) -> Option<String> {
    let right = "write the issuer as its provider spells it, such as https://login.example.com/realms/main";
    let Ok(url) = Url::parse(issuer) else {
        return Some(format!("`{issuer}` is no URL; {right}"));
    };
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    if url.scheme() != "https" && !(url.scheme() == "http" && is_loopback) {
        return Some(format!("`{issuer}` is not https, which is required beyond this machine; {right}"));
    }
    let is_plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    if !is_plain || url.fragment().is_some() || issuer.len() > 255 {
        return Some(format!("it holds a user, a query or a fragment, or has more than 255 characters; {right}"));
    }
    None
}

/// Without the secret.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issuer_is_encrypted_or_on_this_machine() {
        for fine in
            ["https://login.example.com", "https://h:8443/realms/main/", "http://127.0.0.1:3000", "http://[::1]/x"]
        {
            assert_eq!(issuer_complaint(fine), None, "{fine}");
        }
        for (wrong, said) in [
            ("", "is no URL"),
            ("login.example.com", "is no URL"),
            ("http://login.example.com", "is not https"),
            ("ftp://127.0.0.1/", "is not https"),
            ("https://user@login.example.com", "holds a user"),
            ("https://login.example.com/?a=b", "holds a user"),
        ] {
            assert!(issuer_complaint(wrong).is_some_and(|text| text.contains(said)), "{wrong}");
        }
    }
}
