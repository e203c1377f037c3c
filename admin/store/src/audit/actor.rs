//! Who asks for something, and from where.

use crate::audit::denials::Denials;
use crate::people::grants::{Grants, Role};

/// The name of a sender that is not signed in.
const UNKNOWN: &str = "unknown";

/// Who asks, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// An account's name, or what acts without an account: `cli`, `api-token`, `executor`, `engine`, `openid`.
    pub name: String,
    /// None: it acts without an account.
    pub account_id: Option<i64>,
    /// The name of the personal token that stands for the account.
    pub token: Option<String>,
    /// The address that the request came from.
    pub source: String,
    /// The id that the answer and the lines of the log carry.
    pub request_id: Option<String>,
    /// What it may do.
    pub grants: Grants,
    /// It is a session whose owner has not given the password again: no script is written for it.
    pub is_unconfirmed: bool,
    /// What it was not allowed to do.
    pub denials: Denials,
}

impl Actor {
    pub fn new(name: impl Into<String>, source: impl Into<String>, grants: Grants) -> Self {
        Self {
            name: name.into(),
            account_id: None,
            token: None,
            source: source.into(),
            request_id: None,
            grants,
            is_unconfirmed: false,
            denials: Denials::default(),
        }
    }

    /// May do everything: a setting or the machine itself has said so.
    pub fn unlimited(name: &str, source: impl Into<String>) -> Self {
        Self::new(name, source, Grants::for_all(Role::Admin))
    }

    /// The sender of a request that is not signed in; may do nothing.
    pub fn unknown(source: impl Into<String>) -> Self {
        Self::new(UNKNOWN, source, Grants::default())
    }

    /// Nothing is known of it but its address.
    pub fn is_unknown(&self) -> bool {
        self.account_id.is_none() && self.name == UNKNOWN
    }

    /// The program itself.
    pub fn engine() -> Self {
        Self::unlimited("engine", "")
    }

    /// A command on the machine.
    pub fn cli() -> Self {
        Self::unlimited("cli", "")
    }

    #[must_use]
    pub fn with_account(self, id: i64) -> Self {
        Self { account_id: Some(id), ..self }
    }

    /// A session, until its owner has given the password again.
    #[must_use]
    pub fn unconfirmed(self) -> Self {
        Self { is_unconfirmed: true, ..self }
    }

    /// The same after its owner has given the password again.
    #[must_use]
    pub fn confirmed(self) -> Self {
        Self { is_unconfirmed: false, ..self }
    }

    #[must_use]
    pub fn with_token(self, name: impl Into<String>) -> Self {
        Self { token: Some(name.into()), ..self }
    }

    #[must_use]
    pub fn with_request(self, id: Option<String>) -> Self {
        Self { request_id: id, ..self }
    }
}
