//! What the registrations say about the tokens and signatures of requests to and from executors.

use std::collections::HashMap;

use carillon_protocol::headers;
use carillon_scheduler::Millis;
use carillon_store::app::executors::Executor;

#[derive(Default)]
pub(super) struct Registrations {
    /// By app, then by address: a look-up makes no key.
    by_app: HashMap<String, HashMap<String, Registration>>,
    /// By boot id. Nothing keeps executors of several apps from naming the same one.
    signed_starts: HashMap<String, Vec<SignedStart>>,
}

#[derive(Clone, Copy)]
pub(super) struct Registration {
    /// The token by which it was made; None: the one of all apps.
    pub token_id: Option<i64>,
    /// The end of its lease, if the executor signs its requests and takes signed ones only.
    pub signed_until: Option<Millis>,
}

/// A start of an executor that signs.
pub(super) struct SignedStart {
    pub app: String,
    /// As of its registration.
    pub token_id: Option<i64>,
    /// The end of its lease.
    pub until: Millis,
}

impl Registrations {
    pub fn add(&mut self, executor: &Executor) {
        let signed_until = executor.has(headers::CAPABILITY_SIGNED).then_some(executor.expires_at);
        let (app, token_id) = (executor.app.clone(), executor.token_id);
        if let (Some(until), Some(boot_id)) = (signed_until, executor.boot_id.clone()) {
            let start = SignedStart { app: app.clone(), token_id, until };
            self.signed_starts.entry(boot_id).or_default().push(start);
        }
        let registration = Registration { token_id, signed_until };
        self.by_app.entry(app).or_default().insert(executor.address.clone(), registration);
    }

    pub fn find(&self, app: &str, address: &str) -> Option<Registration> {
        self.by_app.get(app)?.get(address).copied()
    }

    pub fn signed_starts(&self, boot_id: &str) -> &[SignedStart] {
        self.signed_starts.get(boot_id).map_or(&[], Vec::as_slice)
    }
}
