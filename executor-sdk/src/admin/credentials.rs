//! How requests to the admins show an access token: in a header, or by a signature that is made with it.

use std::sync::atomic::{AtomicUsize, Ordering};

use carillon_protocol::{SIGNED_FOR_ADMIN, SignedRequest, SigningKey, headers};
use reqwest::header::{HeaderMap, HeaderValue};

use crate::error::Error;
use crate::run::wall_clock;

pub(crate) struct Credentials {
    /// In order of preference.
    all: Vec<Credential>,
    /// Whether requests are signed, and never carry a token.
    signs: bool,
    /// Index of the one that an admin accepted last.
    accepted: AtomicUsize,
}

struct Credential {
    token: HeaderValue,
    key: SigningKey,
}

impl Credentials {
    pub(crate) fn new<'a>(tokens: impl Iterator<Item = &'a str>, signs: bool) -> Result<Self, Error> {
        let credential = |token: &str| {
            let problem = |_| Error::setting("token", "has characters that no HTTP header may have");
            let mut header = HeaderValue::from_str(token).map_err(problem)?;
            header.set_sensitive(true);
            Ok(Credential { token: header, key: SigningKey::new(token) })
        };
        let all = tokens.map(credential).collect::<Result<_, Error>>()?;
        Ok(Self { all, signs, accepted: AtomicUsize::new(0) })
    }

    /// Which to try, one after the other. A heartbeat begins with the preferred one, so that the executor is registered by it as
    /// soon as the admin knows it; results begin with the one that was accepted.
    pub(crate) fn order(&self, is_heartbeat: bool) -> impl Iterator<Item = usize> + use<> {
        let (count, accepted) = (self.all.len(), self.accepted.load(Ordering::Relaxed));
        let first = if is_heartbeat { 0 } else { accepted };
        (0..count).map(move |step| (first + step) % count)
    }

    pub(crate) fn set_accepted(&self, index: usize) {
        self.accepted.store(index, Ordering::Relaxed);
    }

    /// The header that a request with these other headers gets.
    pub(crate) fn header(
        &self,
        index: usize,
        path: &str,
        others: &HeaderMap,
        body: &[u8],
    ) -> (&'static str, HeaderValue) {
        let credential = &self.all[index];
        if !self.signs {
            return (headers::TOKEN, credential.token.clone());
        }
        let others = others.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let request = SignedRequest { receiver: SIGNED_FOR_ADMIN, path, headers: others };
        let signature = credential.key.sign(request, body, wall_clock::now_ms(), rand::random());
        // Digits, letters and semicolons.
        (headers::SIGNATURE, HeaderValue::try_from(signature).unwrap_or(HeaderValue::from_static("")))
    }
}
