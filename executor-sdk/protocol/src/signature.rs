//! Signed requests: the sender shows that it has the access token without sending it, and a request that was recorded or
//! changed on its way counts for nothing. For connections without TLS.

use std::fmt;

use ring::{digest, hmac};

use crate::headers;
use crate::url::normal_address;

/// By how much the clocks of sender and receiver may differ, which is also how long a signature is valid.
pub const SIGNATURE_WINDOW_MS: i64 = 60_000;
/// The receiver that executors sign for. A request to an executor is signed for its registered address.
pub const SIGNED_FOR_ADMIN: &str = "admin";

const VERSION: &str = "1";
const ID_PURPOSE: &[u8] = b"carillon signature id 1";
const KEY_PURPOSE: &[u8] = b"carillon signature key 1";
const ID_DIGITS: usize = 32;

/// What signs: a key that is made of an access token, and the public id under which the receiver finds it.
#[derive(Clone)]
pub struct SigningKey {
    id: String,
    key: hmac::Key,
}

/// A request's parts that its signature is about, besides the body.
pub struct SignedRequest<'a, I> {
    /// [`SIGNED_FOR_ADMIN`], or the registered address of an executor: what one has got is of no use at another.
    pub receiver: &'a str,
    /// The path below the receiver's base address: `/run`, `/api/callback`.
    pub path: &'a str,
    /// All headers; those that are signed are taken from them.
    pub headers: I,
}

/// The header [`headers::SIGNATURE`], read. It is neither right nor wrong before [`check`](Self::check).
#[derive(Clone, Debug)]
pub struct Signature {
    /// Which key made it.
    pub key_id: String,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Random, once for each request.
    pub nonce: u128,
    body: String,
    mac: Vec<u8>,
}

/// Why a signed request is refused. The text is for the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named by the texts")]
pub enum SignatureProblem {
    Unreadable,
    Wrong,
    Body,
    Clock { seconds: i64 },
    Repeated,
    Earlier,
    TooMany,
}

impl fmt::Display for SignatureProblem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Unreadable => write!(f, "{} cannot be read", headers::SIGNATURE),
            Self::Wrong => f.write_str(crate::WRONG_TOKEN),
            Self::Body => f.write_str("the body is not the one that was signed"),
            Self::Clock { seconds } => {
                let most = SIGNATURE_WINDOW_MS / 1000;
                write!(f, "the request was signed {seconds} s from this clock's time; at most {most} s are allowed")
            }
            Self::Repeated => f.write_str("a request with this signature was here before"),
            Self::Earlier => {
                f.write_str("the request was signed before this process began, which does not know what was here then")
            }
            Self::TooMany => f.write_str("too many signed requests within two minutes"),
        }
    }
}

impl SigningKey {
    /// The key of an access token.
    pub fn new(token: &str) -> Self {
        let token = hmac::Key::new(hmac::HMAC_SHA256, token.as_bytes());
        let mut id = hex(hmac::sign(&token, ID_PURPOSE).as_ref());
        id.truncate(ID_DIGITS);
        let key = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&token, KEY_PURPOSE).as_ref());
        Self { id, key }
    }

    /// Under which receivers find the key; it says nothing about the token.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The value of the header [`headers::SIGNATURE`]. `nonce` is random.
    pub fn sign<'a>(
        &self,
        request: SignedRequest<'_, impl Iterator<Item = (&'a str, &'a [u8])>>,
        body: &[u8],
        at: i64,
        nonce: u128,
    ) -> String {
        let body = body_digest(body);
        let text = request.text(at, nonce, &body);
        let mac = hex(hmac::sign(&self.key, &text).as_ref());
        format!("{VERSION};{};{at};{nonce:032x};{body};{mac}", self.id)
    }
}

impl<'a, I: Iterator<Item = (&'a str, &'a [u8])>> SignedRequest<'_, I> {
    /// What is signed: a line for each part. No part has a line end: a header cannot.
    fn text(self, at: i64, nonce: u128, body: &str) -> Vec<u8> {
        let mut covered: Vec<(String, &[u8])> =
            self.headers.map(|(name, value)| (name.to_ascii_lowercase(), value)).filter(is_covered).collect();
        covered.sort();
        let receiver = normal_address(self.receiver);
        let path = self.path.trim_start_matches('/');
        let mut text =
            format!("carillon {VERSION}\n{receiver}\nPOST\n/{path}\n{at}\n{nonce:032x}\n{body}\n").into_bytes();
        for (name, value) in covered {
            text.extend_from_slice(name.as_bytes());
            text.push(b':');
            text.extend_from_slice(value.trim_ascii());
            text.push(b'\n');
        }
        text
    }
}

/// All headers of Carillon's and the app's name; proxies change others.
fn is_covered((name, _): &(String, &[u8])) -> bool {
    let is_own = name.starts_with("carillon-") && !name.eq_ignore_ascii_case(headers::SIGNATURE);
    is_own || name.eq_ignore_ascii_case(headers::APP)
}

impl Signature {
    /// # Errors
    /// It has another form.
    pub fn parse(value: &[u8]) -> Result<Self, SignatureProblem> {
        let parsed = || {
            let parts: Vec<&str> = std::str::from_utf8(value).ok()?.trim().split(';').collect();
            let [VERSION, key_id, at, nonce, body, mac] = parts[..] else { return None };
            let is_digest = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
            if key_id.len() != ID_DIGITS || nonce.len() != 32 || !is_digest(body) || !is_digest(mac) {
                return None;
            }
            let (at, nonce) = (at.parse().ok()?, u128::from_str_radix(nonce, 16).ok()?);
            Some(Self { key_id: key_id.to_owned(), at, nonce, body: body.to_owned(), mac: bytes(mac)? })
        };
        parsed().ok_or(SignatureProblem::Unreadable)
    }

    /// Whether the key has made it for this request, just now. The body is compared by
    /// [`check_body`](Self::check_body), so that a request without the token is refused before its body is read.
    ///
    /// # Errors
    /// It is not: the request was changed, or comes too late.
    pub fn check<'a>(
        &self,
        key: &SigningKey,
        request: SignedRequest<'_, impl Iterator<Item = (&'a str, &'a [u8])>>,
        now: i64,
    ) -> Result<(), SignatureProblem> {
        let text = request.text(self.at, self.nonce, &self.body);
        hmac::verify(&key.key, &text, &self.mac).map_err(|_| SignatureProblem::Wrong)?;
        let difference = now.saturating_sub(self.at);
        match difference.saturating_abs() <= SIGNATURE_WINDOW_MS {
            true => Ok(()),
            false => Err(SignatureProblem::Clock { seconds: difference.saturating_abs() / 1000 }),
        }
    }

    /// # Errors
    /// Another body was signed.
    pub fn check_body(&self, body: &[u8]) -> Result<(), SignatureProblem> {
        // The digest is signed, so it need not be compared in constant time.
        if body_digest(body) == self.body { Ok(()) } else { Err(SignatureProblem::Body) }
    }
}

fn body_digest(body: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, body).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok()).collect()
}
