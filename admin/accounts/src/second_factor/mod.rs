//! The second factor: codes of an app on the owner's phone (TOTP, RFC 6238), and recovery codes for the day on which it is lost.

mod check;
mod enrolment;
mod qr;
mod totp;

pub use check::{CodeCheck, check};
pub use enrolment::{Proposal, Proposed, confirm, propose, remove};
pub use totp::{Secret, code_at};
