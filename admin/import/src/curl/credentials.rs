//! Credentials of a line. None is kept: a secret of the app takes its place, under a name that is proposed here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use carillon_scheduler::job::http::check_secret_name;

/// Characters of the name of a secret.
const NAME_CHARS: usize = 64;
/// Of that, for what the secret is for.
const USE_CHARS: usize = 32;

/// Words of the names of headers whose values are credentials.
const CREDENTIALS: &[&str] = &[
    "apikey",
    "auth",
    "authentication",
    "authorization",
    "cookie",
    "credential",
    "credentials",
    "key",
    "password",
    "secret",
    "session",
    "signature",
    "token",
];

/// Ways to authenticate whose value is computed for each request.
const COMPUTED: &[&str] = &["aws4-hmac-sha256", "digest", "hawk", "negotiate", "ntlm"];

/// Whether the value of a header is a credential. An ordinary value that is taken for one costs the person a secret.
pub(super) fn is_credential(header: &str) -> bool {
    header.to_ascii_lowercase().split(['-', '_']).any(|word| CREDENTIALS.contains(&word))
}

/// How a request authenticates.
pub(super) enum Credential {
    /// The secret that is named already.
    Bearer(Option<String>),
    Basic {
        user: String,
        secret: Option<String>,
    },
    /// The whole value of the header `Authorization` is the secret.
    Header,
    /// A user without a password is the credential itself, and the secret what the header has for it.
    UserAlone,
    /// A value that is right once.
    Computed,
}

impl Credential {
    /// Of the value of the header `Authorization`.
    pub(super) fn of_header(value: &str) -> Self {
        let (scheme, rest) = value.split_once(' ').unwrap_or((value, ""));
        let rest = rest.trim();
        match scheme.to_ascii_lowercase().as_str() {
            "bearer" if !rest.is_empty() => Self::Bearer(named(rest)),
            "basic" => match decoded(rest).filter(|(_, password)| !password.is_empty()) {
                Some((user, password)) => Self::of_user(user, Some(&password)),
                None => Self::Header,
            },
            scheme if COMPUTED.contains(&scheme) => Self::Computed,
            _ => Self::Header,
        }
    }

    /// Of a user with the password, if there is a colon behind the user.
    pub(super) fn of_user(user: String, password: Option<&str>) -> Self {
        match password {
            Some("") => Self::UserAlone,
            password => Self::Basic { user, secret: password.and_then(named) },
        }
    }
}

fn decoded(text: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(text).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

/// The name in `{{secret.NAME}}`, where the text is nothing else.
pub(super) fn named(text: &str) -> Option<String> {
    let name = text.strip_prefix("{{secret.")?.strip_suffix("}}")?;
    check_secret_name(name).ok().map(|()| name.to_owned())
}

/// A name for a secret that is sent to this host: `API_EXAMPLE_COM_TOKEN`.
pub(super) fn proposed_name(host: &str, purpose: &str) -> String {
    let purpose: String = in_capitals(purpose).chars().take(USE_CHARS).collect();
    let mut name = in_capitals(host);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name = format!("HOST_{name}");
    }
    name.truncate(NAME_CHARS - 1 - purpose.len());
    format!("{}_{purpose}", name.trim_end_matches('_'))
}

/// Letters and digits, with `_` for any others between them.
fn in_capitals(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_").to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposed_names_are_names_of_secrets() {
        for (host, purpose, expected) in [
            ("api.example.com", "token", "API_EXAMPLE_COM_TOKEN"),
            ("127.0.0.1", "X-Api-Key", "HOST_127_0_0_1_X_API_KEY"),
            ("[::1]", "password", "HOST_1_PASSWORD"),
            ("é", "cookie", "HOST_COOKIE"),
        ] {
            assert_eq!(proposed_name(host, purpose), expected);
        }
        let long = proposed_name(&"a".repeat(200), &"b".repeat(100));
        assert_eq!((long.len(), check_secret_name(&long)), (64, Ok(())));
    }

    #[test]
    fn headers_with_credentials_are_known_by_a_word_of_their_names() {
        for name in ["X-API-Key", "private-token", "apikey", "X_Auth", "Cookie"] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["Accept", "Authority", "Keyboard", "X-Tokens-Left", ""] {
            assert!(!is_credential(name), "{name}");
        }
    }
}
