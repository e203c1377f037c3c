//! The provider: where the browser is sent, and who the person is that comes back.

use carillon_scheduler::Millis;
use carillon_store::Store;
use chrono::{DateTime, TimeDelta, Utc};
use openidconnect::core::{CoreAuthenticationFlow, CoreClientAuthMethod, CoreJwsSigningAlgorithm};
use openidconnect::{
    AccessTokenHash, AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken,
    IssuerUrl, Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError,
    Scope, TokenResponse as _,
};
use reqwest::Certificate;
use ring::hmac::Key;
use tokio::sync::OnceCell;

use crate::openid::begun::{self, Secrets};
use crate::openid::claims::{Client, IdClaims, Metadata, Tokens, UserInfo, groups};
use crate::openid::discovery::{Discovery, chain};
use crate::openid::http;
use crate::openid::settings::{Settings, issuer_complaint};

/// How far the provider's clock may be off.
const SKEW: TimeDelta = TimeDelta::seconds(60);

/// Why a person could not be signed in by the provider.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The provider does not answer, or its description cannot be used.
    #[error("the provider cannot be used: {0}")]
    Unavailable(String),
    /// The provider has refused.
    #[error("the provider has refused: {0}")]
    Refused(String),
    /// What came back is not the answer to a sign-in that this browser has begun a short while ago.
    #[error("the sign-in has expired, was used already, or began in another browser")]
    Unknown,
    /// A check of what the provider has sent has failed. The text goes to the log alone.
    #[error("what the provider has sent is refused: {0}")]
    Invalid(String),
    #[error(transparent)]
    Store(#[from] carillon_store::Error),
}

pub struct Provider {
    pub settings: Settings,
    redirect: RedirectUrl,
    client: reqwest::Client,
    discovery: Discovery,
    /// Signs what browsers carry to the provider and back; the same on all nodes of the database.
    key: OnceCell<Key>,
}

/// What the browser has brought back.
pub(super) struct Returned<'a> {
    pub code: &'a str,
    /// RFC 9207.
    pub issuer: Option<&'a str>,
    pub secrets: Secrets,
}

/// A person, as the provider has described them in a token that fits.
#[derive(Debug)]
pub struct Person {
    pub subject: String,
    /// The best name first.
    pub names: Vec<String>,
    pub groups: Vec<String>,
}

impl Provider {
    /// `redirect`: where the provider sends the browser back to, `…/login/openid/callback`. `authorities`: those of
    /// [`Settings::authorities`].
    ///
    /// # Errors
    /// An address that cannot be used, or the HTTP client cannot be built.
    pub fn new(settings: Settings, redirect: &str, authorities: Option<Vec<Certificate>>) -> Result<Self, String> {
        if let Some(complaint) = issuer_complaint(&settings.issuer) {
            return Err(complaint);
        }
        let issuer = IssuerUrl::new(settings.issuer.clone()).map_err(|error| error.to_string())?;
        let redirect = RedirectUrl::new(redirect.to_owned()).map_err(|error| error.to_string())?;
        let client = http::client(authorities).map_err(|error| error.to_string())?;
        let (discovery, key) = (Discovery::new(issuer, client.clone()), OnceCell::new());
        Ok(Self { settings, redirect, discovery, client, key })
    }

    /// Why the provider could not be reached the last time.
    pub fn failure(&self) -> Option<String> {
        self.discovery.failure()
    }

    /// Reads the provider's description, so that a wrong setting is in the log before the first person signs in.
    pub async fn look(&self, now: Millis) {
        if let Err(reason) = self.discovery.metadata(now).await {
            tracing::warn!(error = reason, "the OpenID provider cannot be used; sign-in asks it again");
        }
    }

    pub(super) async fn key(&self, store: &Store) -> Result<&Key, Error> {
        let read = || async { Ok::<_, Error>(begun::key(&store.leases().sign_in_key().await?)) };
        self.key.get_or_try_init(read).await
    }

    /// Where to send the browser. `state` comes back with it.
    pub(super) async fn authorization(&self, state: &str, secrets: &Secrets, now: Millis) -> Result<String, Error> {
        let client = self.connected(self.discovery.metadata(now).await.map_err(Error::Unavailable)?);
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&PkceCodeVerifier::new(secrets.verifier.clone()));
        let (state, nonce) = (CsrfToken::new(state.to_owned()), Nonce::new(secrets.nonce.clone()));
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = client.authorize_url(flow, move || state, move || nonce);
        let scopes = self.settings.scopes.iter().map(|scope| Scope::new(scope.clone()));
        let (url, ..) = request.add_scopes(scopes).set_pkce_challenge(challenge).url();
        Ok(url.to_string())
    }

    /// Exchanges the code, and checks what the provider says of the person.
    pub(super) async fn person(&self, returned: Returned<'_>, now: Millis) -> Result<Person, Error> {
        let metadata = self.discovery.metadata(now).await.map_err(Error::Unavailable)?;
        self.must_be_issuer(&metadata, returned.issuer)?;
        let client = self.connected(metadata);
        let tokens = self.exchange(&client, &returned).await?;
        let nonce = Nonce::new(returned.secrets.nonce);
        let claims = match verified(&client, &tokens, &nonce, now) {
            // The provider may have other keys by now.
            Err(ClaimsVerificationError::SignatureVerification(_)) => {
                let client = self.connected(self.discovery.refreshed(now).await.map_err(Error::Unavailable)?);
                verified(&client, &tokens, &nonce, now)
            }
            other => other,
        };
        let claims = claims.map_err(|error| Error::Invalid(chain(&error)))?;
        self.describe(&client, &tokens, &claims).await
    }

    /// Another provider's answer must not be taken for this one's (mix-up).
    fn must_be_issuer(&self, metadata: &Metadata, sent: Option<&str>) -> Result<(), Error> {
        let must = metadata.additional_metadata().authorization_response_iss_parameter_supported;
        match sent {
            Some(sent) if sent == metadata.issuer().as_str() => Ok(()),
            None if !must => Ok(()),
            _ => Err(Error::Invalid("its answer names another issuer".to_owned())),
        }
    }

    fn connected(&self, metadata: Metadata) -> Client {
        let methods = metadata.token_endpoint_auth_methods_supported();
        // Without a list it is basic.
        let in_body = methods.is_some_and(|methods| !methods.contains(&CoreClientAuthMethod::ClientSecretBasic));
        let secret = self.settings.client_secret.clone().map(ClientSecret::new);
        let id = ClientId::new(self.settings.client_id.clone());
        Client::from_provider_metadata(metadata, id, secret)
            .set_redirect_uri(self.redirect.clone())
            .set_auth_type(if in_body { AuthType::RequestBody } else { AuthType::BasicAuth })
    }

    async fn exchange(&self, client: &Client, returned: &Returned<'_>) -> Result<Tokens, Error> {
        let send = |request| http::send(self.client.clone(), request);
        let code = AuthorizationCode::new(returned.code.to_owned());
        let request = client.exchange_code(code).map_err(|error| Error::Unavailable(error.to_string()))?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(returned.secrets.verifier.clone()));
        request.request_async(&send).await.map_err(|error| match error {
            RequestTokenError::ServerResponse(refusal) => Error::Refused(refusal.to_string()),
            RequestTokenError::Parse(error, _) => Error::Invalid(error.to_string()),
            other => Error::Unavailable(chain(&other)),
        })
    }

    /// Name and groups; what the token does not hold is asked for.
    async fn describe(&self, client: &Client, tokens: &Tokens, claims: &IdClaims) -> Result<Person, Error> {
        let claim = &self.settings.groups_claim;
        let in_token = groups(claims.additional_claims(), claim);
        let text = |name: Option<&String>| name.cloned();
        let mut names =
            vec![text(claims.preferred_username().map(|name| &**name)), text(claims.email().map(|name| &**name))];
        let mut found = in_token.clone();
        if (in_token.is_none() || names[0].is_none())
            && let Ok(request) = client.user_info(tokens.access_token().clone(), Some(claims.subject().clone()))
        {
            let send = |request| http::send(self.client.clone(), request);
            let more: UserInfo = request.request_async(&send).await.map_err(|error| Error::Invalid(chain(&error)))?;
            names.insert(0, text(more.preferred_username().map(|name| &**name)));
            names.push(text(more.email().map(|name| &**name)));
            found = found.or_else(|| groups(more.additional_claims(), claim));
        }
        names.push(Some(claims.subject().to_string()));
        Ok(Person {
            subject: claims.subject().to_string(),
            names: names.into_iter().flatten().collect(),
            groups: found.unwrap_or_default(),
        })
    }
}

/// Checks signature, issuer, audience, times and nonce of the token, and that the access token belongs to it.
fn verified(client: &Client, tokens: &Tokens, nonce: &Nonce, now: Millis) -> Result<IdClaims, ClaimsVerificationError> {
    let other = |text: &str| ClaimsVerificationError::Other(text.to_owned());
    let now = DateTime::<Utc>::from_timestamp_millis(now).ok_or_else(|| other("no time"))?;
    let verifier = client.id_token_verifier().set_allowed_algs(algorithms()).set_time_fn(move || now - SKEW);
    let verifier = verifier.set_issue_time_verifier_fn(move |issued| match issued <= now + SKEW {
        true => Ok(()),
        false => Err("it was issued in the future".to_owned()),
    });
    let token = tokens.id_token().ok_or_else(|| other("there is no ID token"))?;
    let claims = token.claims(&verifier, nonce)?;
    if let Some(expected) = claims.access_token_hash() {
        let algorithm = token.signing_alg().map_err(|error| other(&error.to_string()))?;
        let key = token.signing_key(&verifier).map_err(ClaimsVerificationError::SignatureVerification)?;
        let actual = AccessTokenHash::from_token(tokens.access_token(), algorithm, key);
        if actual.map_err(|error| other(&error.to_string()))? != *expected {
            return Err(other("the access token belongs to another ID token"));
        }
    }
    Ok(claims.clone())
}

/// Signatures with keys of the provider alone: no `none`, and none with the client's secret.
fn algorithms() -> [CoreJwsSigningAlgorithm; 10] {
    use CoreJwsSigningAlgorithm as A;
    [
        A::RsaSsaPkcs1V15Sha256,
        A::RsaSsaPkcs1V15Sha384,
        A::RsaSsaPkcs1V15Sha512,
        A::RsaSsaPssSha256,
        A::RsaSsaPssSha384,
        A::RsaSsaPssSha512,
        A::EcdsaP256Sha256,
        A::EcdsaP384Sha384,
        A::EcdsaP521Sha512,
        A::EdDsa,
    ]
}
