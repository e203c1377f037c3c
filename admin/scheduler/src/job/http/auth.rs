//! How the request of an HTTP job proves where it comes from.

use serde::{Deserialize, Serialize};

use super::template::check_secret_name;
use super::url::check_url;
use crate::checks::check_line;

const USER_CHARS: usize = 255;
/// Characters of what a client names to an authorization server.
const CLIENT_CHARS: usize = 1_000;

/// How a request proves where it comes from. Secrets are named, not written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", expecting = "one of bearer, basic, hmac and oauth2 as an object")]
pub enum HttpAuth {
    /// `Authorization: Bearer` and the secret of this name.
    Bearer(String),
    /// `Authorization: Basic`.
    Basic(BasicAuth),
    /// The headers of Standard Webhooks, signed with the secret of this name, or with each of two.
    Hmac(HmacSecrets),
    /// `Authorization: Bearer` and a token that an authorization server gives to this client (RFC 6749, section 4.4).
    Oauth2(OauthClient),
}

/// A client that gets tokens by its own credentials.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a client with token_url, client_id and secret as an object")]
pub struct OauthClient {
    /// Where the authorization server gives out tokens: `http://` or `https://`, without placeholders.
    pub token_url: String,
    /// The name of the client.
    pub client_id: String,
    /// The name of the secret that the client authenticates with.
    pub secret: String,
    /// What the token is asked for, with blanks between; empty: what the server gives by itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scope: String,
    /// Whom the token is for, as some servers want it; empty: it is not named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub audience: String,
    /// The credentials are in the body of the request for a token, not in its `Authorization`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_body: bool,
}

/// The names of the secrets that sign a request. Two while one takes the place of the other: the service accepts either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "the name of a secret, or a list of two names")]
pub enum HmacSecrets {
    /// As a text.
    One(String),
    /// As a list: the new one and the former one.
    Two([String; 2]),
}

impl HmacSecrets {
    /// One name or two.
    pub fn names(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Two(names) => names,
        }
    }
}

impl From<&str> for HmacSecrets {
    fn from(name: &str) -> Self {
        Self::One(name.to_owned())
    }
}

/// A user with a password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a user and the name of a secret as an object")]
pub struct BasicAuth {
    /// The name of the user.
    pub user: String,
    /// The name of the secret that is the password.
    pub password: String,
}

impl HttpAuth {
    /// The names of its secrets: one, or two that sign.
    pub fn secrets(&self) -> &[String] {
        match self {
            Self::Bearer(secret) => std::slice::from_ref(secret),
            Self::Basic(basic) => std::slice::from_ref(&basic.password),
            Self::Hmac(secrets) => secrets.names(),
            Self::Oauth2(client) => std::slice::from_ref(&client.secret),
        }
    }

    /// Whether the request has a header `Authorization`.
    pub(super) const fn is_in_authorization(&self) -> bool {
        matches!(self, Self::Bearer(_) | Self::Basic(_) | Self::Oauth2(_))
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.secrets().iter().try_for_each(|name| check_secret_name(name))?;
        match self {
            Self::Hmac(HmacSecrets::Two([new, former])) if new == former => {
                Err(format!("names the secret {new} twice; two that sign differ"))
            }
            Self::Basic(basic) if basic.user.contains(':') => Err("the user must not contain a colon".to_owned()),
            Self::Basic(basic) => check_line(&basic.user, 1..=USER_CHARS).map_err(|why| format!("user: {why}")),
            Self::Oauth2(client) => client.check(),
            Self::Bearer(_) | Self::Hmac(_) => Ok(()),
        }
    }
}

impl OauthClient {
    fn check(&self) -> Result<(), String> {
        check_url(&self.token_url).map_err(|why| format!("token_url: {why}"))?;
        if self.token_url.contains("{{") {
            return Err("token_url: must not have a placeholder".to_owned());
        }
        check_line(&self.client_id, 1..=CLIENT_CHARS).map_err(|why| format!("client_id: {why}"))?;
        check_line(&self.scope, 0..=CLIENT_CHARS).map_err(|why| format!("scope: {why}"))?;
        check_line(&self.audience, 0..=CLIENT_CHARS).map_err(|why| format!("audience: {why}"))
    }
}
