//! Requests of executors that sign them: found by the public id of a token's key, checked, and taken once.

use carillon_protocol::{SIGNED_FOR_ADMIN, Signature, SignatureProblem, SignedRequest};
use carillon_scheduler::Millis;

use crate::executor::tokens::{Credential, ExecutorTokens};

impl ExecutorTokens {
    /// Whose request this is, by the value of its header `Carillon-Signature`. Its body is compared with the signature that
    /// this answers.
    ///
    /// A node remembers what it has seen itself since its start. A recorded request may be repeated at another node within a minute:
    /// results are stored once, a registration lasts for a lease, and a removal ends no later start than its own.
    ///
    /// # Errors
    /// It is not signed with a valid token, was changed, is too old, or was here before.
    pub fn identify_signed<'a>(
        &self,
        value: &[u8],
        path: &str,
        headers: impl Iterator<Item = (&'a str, &'a [u8])>,
        now: Millis,
    ) -> Result<(Credential, Signature), SignatureProblem> {
        let signature = Signature::parse(value)?;
        let (credential, key) = self.by_key_id(&signature.key_id, now).ok_or(SignatureProblem::Wrong)?;
        signature.check(&key, SignedRequest { receiver: SIGNED_FOR_ADMIN, path, headers }, now)?;
        self.signatures.lock().note(&signature, now)?;
        Ok((credential, signature))
    }
}
