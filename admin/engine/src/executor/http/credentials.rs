//! What a request proves where it comes from with: secrets of the app, and tokens of authorization servers.

use std::collections::{BTreeMap, BTreeSet};

use carillon_scheduler::job::http::{HttpAuth, HttpDraft, OauthClient, masked};
use carillon_store as store;

use super::access_tokens::{NoToken, TokenKey};
use super::answer::HttpOutcome;
use super::sender::HttpSender;
use crate::context::Context;
use crate::executor::outcome::Outcome;

/// What encrypts the secret of an app.
pub fn seal_context(app_id: i64, name: &str) -> String {
    format!("secret {app_id} {name}")
}

impl HttpSender {
    /// The token of the authorization server, if the job has one. None: also without the secret, which is a fault of the request.
    pub(super) async fn token(
        &self,
        cx: &Context,
        (app_id, draft): (i64, &HttpDraft),
        secrets: &BTreeMap<String, String>,
    ) -> Result<Option<String>, HttpOutcome> {
        let Some((client, secret)) = client_of(draft, secrets) else { return Ok(None) };
        let key = TokenKey::new(app_id, client, secret);
        match self.tokens.get(&self.clients, &*cx.clock, key, secret).await {
            Ok(token) => Ok(Some(token)),
            Err(NoToken::Unavailable(why)) => Err(HttpOutcome::PutOff(why)),
            Err(NoToken::Refused(why)) => Err(HttpOutcome::NotSent(Outcome::Withheld { why })),
        }
    }

    /// The service refuses the token, which may have been withdrawn before its end.
    pub(super) async fn forget_token(&self, cx: &Context, app_id: i64, draft: &HttpDraft) {
        let names = draft.secrets();
        let Ok(secrets) = self.secrets(&cx.store, app_id, &names).await else { return };
        if let Some((client, secret)) = client_of(draft, &secrets) {
            self.tokens.forget(&TokenKey::new(app_id, client, secret));
        }
    }

    /// A text of the service, with `***` in place of the secrets that the job names.
    ///
    /// # Errors
    /// The secrets cannot be read.
    pub async fn masked(
        &self,
        store: &store::Store,
        (app_id, draft): (i64, &HttpDraft),
        text: &str,
    ) -> Result<String, String> {
        let names = draft.secrets();
        if names.is_empty() {
            return Ok(text.to_owned());
        }
        let secrets: Vec<String> = self.secrets(store, app_id, &names).await?.into_values().collect();
        Ok(masked(text, &secrets))
    }

    /// Those of these secrets that the app has and that can be decrypted.
    pub(super) async fn secrets(
        &self,
        store: &store::Store,
        app_id: i64,
        names: &BTreeSet<&str>,
    ) -> Result<BTreeMap<String, String>, String> {
        let sealed = store.apps().sealed_secrets(app_id).await.map_err(|error| error.to_string())?;
        let open = |(name, value): (String, String)| {
            let secret = self.keys.open(&seal_context(app_id, &name), &value)?;
            Some((name, secret))
        };
        Ok(sealed.into_iter().filter(|(name, _)| names.contains(name.as_str())).filter_map(open).collect())
    }
}

/// The client of an authorization server that a job has, with its secret.
fn client_of<'a>(draft: &'a HttpDraft, secrets: &'a BTreeMap<String, String>) -> Option<(&'a OauthClient, &'a str)> {
    let Some(HttpAuth::Oauth2(client)) = &draft.auth else { return None };
    Some((client, secrets.get(&client.secret)?))
}
