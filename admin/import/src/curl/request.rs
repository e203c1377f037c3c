//! The request that all options together describe.

use std::collections::BTreeMap;
use std::mem::take;

use carillon_scheduler::job::http::BasicAuth;
use carillon_scheduler::{HttpAuth, HttpDraft, HttpMethod};

use super::credentials::{Credential, proposed_name};
use super::notes::{CurlRequest, Ignored, Meaning, Unavailable};
use super::reader::{Header, Reader};
use super::target::Target;

/// How notes name the URL.
const URL: &str = "URL";

impl Reader {
    /// `variables` are those that a shell would replace.
    ///
    /// # Errors
    /// All faults.
    pub(super) fn finish(mut self, target: Target, variables: &[String]) -> Result<CurlRequest, Vec<String>> {
        let host = target.host().to_owned();
        self.note(URL, Meaning::Url);
        if target.has_fragment {
            self.note(URL, Meaning::Ignored(Ignored::Fragment));
        }
        if let Some((user, password)) = &target.user {
            self.credentials.push((URL.to_owned(), Credential::of_user(user.clone(), password.as_deref())));
        }
        let auth = self.auth(&host);
        let method = self.method();
        let (url, body) = match self.body.take() {
            Some(query) if self.is_get => {
                self.defaults.remove("Content-Type");
                (target.with_query(&query).url, String::new())
            }
            body => (target.url, body.unwrap_or_default()),
        };
        let mut request = HttpDraft { method, headers: self.headers(&host), body, auth, ..HttpDraft::new(url) };
        let has_timeout = self.timeout_seconds.is_some();
        request.timeout_seconds = self.timeout_seconds.unwrap_or(request.timeout_seconds);
        self.note_variables(&request, variables);
        match self.faults.is_empty() {
            true => Ok(CurlRequest { request, has_timeout, notes: self.notes }),
            false => Err(self.faults),
        }
    }

    fn method(&self) -> HttpMethod {
        match self.method {
            Some(method) => method,
            None if self.is_head => HttpMethod::Head,
            None if self.body.is_some() && !self.is_get => HttpMethod::Post,
            None => HttpMethod::Get,
        }
    }

    /// The headers that were given, and of the others those that curl would send too.
    fn headers(&mut self, host: &str) -> BTreeMap<String, String> {
        let mut headers = BTreeMap::new();
        for Header { option, name, value } in take(&mut self.headers) {
            let (value, meaning) = match value {
                Some(value) => (value, Meaning::Header),
                None => {
                    let secret = proposed_name(host, &name);
                    (format!("{{{{secret.{secret}}}}}"), Meaning::Secret(secret))
                }
            };
            headers.insert(name, value);
            self.note(option, meaning);
        }
        for (name, value) in take(&mut self.defaults) {
            if !headers.keys().any(|given: &String| given.eq_ignore_ascii_case(name)) {
                headers.insert(name.to_owned(), value);
            }
        }
        headers
    }

    /// How the request authenticates. A header `Authorization` of another kind is added to the headers.
    fn auth(&mut self, host: &str) -> Option<HttpAuth> {
        if self.credentials.len() > 1 {
            let text =
                "has several of `-u`, `--oauth2-bearer`, the header `Authorization` and a user in the URL; keep one";
            self.faults.push(text.to_owned());
        }
        let is_computed = self.notes.iter().any(|note| note.meaning == COMPUTED);
        let (option, credential) = self.credentials.pop()?;
        let (auth, meaning) = match credential {
            Credential::Bearer(secret) => {
                let (secret, meaning) = secret_of(secret, host, "token");
                (Some(HttpAuth::Bearer(secret)), meaning)
            }
            Credential::Basic { user, secret } if !is_computed => {
                let (password, meaning) = secret_of(secret, host, "password");
                (Some(HttpAuth::Basic(BasicAuth { user, password })), meaning)
            }
            Credential::UserAlone if !is_computed => {
                let secret = proposed_name(host, AUTHORIZATION);
                let value = format!("{{{{secret.{secret}}}}}");
                // Its note says more than that of a header.
                self.defaults.insert(AUTHORIZATION, value);
                (None, Meaning::UserSecret(secret))
            }
            Credential::Header => {
                self.headers.push(Header { option, name: AUTHORIZATION.to_owned(), value: None });
                return None;
            }
            Credential::Basic { .. } | Credential::UserAlone | Credential::Computed => (None, COMPUTED),
        };
        self.note(option, meaning);
        auth
    }

    /// Those that are in the request: a credential may have been one.
    fn note_variables(&mut self, request: &HttpDraft, variables: &[String]) {
        let user = match &request.auth {
            Some(HttpAuth::Basic(basic)) => basic.user.as_str(),
            _ => "",
        };
        let texts = [&*request.url, &*request.body, user];
        let texts: Vec<&str> = request.headers.values().map(String::as_str).chain(texts).collect();
        for variable in variables {
            if texts.iter().any(|text| text.contains(variable.as_str())) {
                self.note(variable, Meaning::Unavailable(Unavailable::Variable));
            }
        }
    }
}

const AUTHORIZATION: &str = "Authorization";
const COMPUTED: Meaning = Meaning::Unavailable(Unavailable::Authentication);

/// The name of a secret, and whether the person has to set it.
fn secret_of(named: Option<String>, host: &str, purpose: &str) -> (String, Meaning) {
    match named {
        Some(name) => (name, Meaning::Authentication),
        None => {
            let name = proposed_name(host, purpose);
            (name.clone(), Meaning::Secret(name))
        }
    }
}
