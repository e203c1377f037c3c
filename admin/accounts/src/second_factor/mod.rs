//! The second factor: codes of an app on the owner's phone (TOTP, RFC 6238), and recovery codes for the day on which it is lost.

mod check;
mod enrolment;
mod qr;
mod totp;

use carillon_store::{Grants, Role};

pub use check::{CodeCheck, check};
pub use enrolment::{Confirmed, Proposal, Proposed, confirm, propose, remove};
pub use totp::{Secret, code_at};

/// Whether the setting `--admin-second-factor` asks a second factor of one with these roles. Whom an OpenID provider signs in has that
/// of the provider.
pub fn is_asked_of(setting: bool, grants: &Grants, issuer: Option<&str>) -> bool {
    setting && issuer.is_none() && grants.highest() == Some(Role::Admin)
}
