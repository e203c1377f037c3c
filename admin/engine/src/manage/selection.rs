//! Many objects at once: which, and what became of each.

use foldhash::HashMap;

use carillon_accounts::policy::{self, Action, Decision, Object};
use carillon_scheduler::AuditObjectKind;
use carillon_store::{Actor, AuditObject};

use crate::manage::error::Error;

/// Objects of one request.
pub const MOST_SELECTED: u32 = 10_000;
/// Objects that are read, checked and changed together. The store writes them in transactions of fewer.
pub(super) const SLICE: usize = 200;

/// Which objects; a filter's order and pages do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection<F> {
    Ids(Vec<i64>),
    Filter(F),
}

/// What became of a selection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BulkOutcome {
    /// Objects that were selected.
    pub matched: usize,
    pub done: usize,
    /// By id.
    pub refused: Vec<Refusal>,
}

/// An object that was left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub id: i64,
    pub reason: String,
}

impl BulkOutcome {
    pub(super) fn new(matched: usize) -> Self {
        Self { matched, ..Self::default() }
    }

    pub(super) fn refuse(&mut self, id: i64, reason: impl Into<String>) {
        self.refused.push(Refusal { id, reason: reason.into() });
    }

    pub(super) fn finish(mut self) -> Self {
        self.refused.sort_by_key(|refusal| refusal.id);
        self
    }

    /// Those that the actor may do this with; the others are refused. `apps`: the app of each that exists.
    pub(super) fn permitted(
        &mut self,
        ids: &[i64],
        apps: &HashMap<i64, i64>,
        (by, action, kind): (&Actor, Action, AuditObjectKind),
    ) -> Vec<i64> {
        let mut permitted = Vec::with_capacity(ids.len());
        for id in ids {
            let decision = apps.get(id).map(|app| (Object::App(*app), policy::decide(by, action, Object::App(*app))));
            if matches!(decision, Some((_, Decision::Forbidden | Decision::Hidden))) {
                by.denials.add(AuditObject { app_id: apps.get(id).copied(), ..AuditObject::new(kind, *id) });
            }
            match decision {
                Some((_, Decision::Allowed)) => permitted.push(*id),
                Some((object, Decision::Forbidden)) => self.refuse(*id, policy::refusal(action, object)),
                // As if it did not exist.
                Some((_, Decision::Hidden)) | None => self.refuse(*id, format!("there is no {kind} {id}")),
            }
        }
        permitted
    }
}

/// `expected`: how many the caller has seen and confirmed.
///
/// # Errors
/// `Invalid`: too many. `Changed`: the number is another one by now.
pub(super) fn check_count(count: usize, expected: Option<usize>) -> Result<(), Error> {
    if count > MOST_SELECTED as usize {
        let text = format!("selects more than {MOST_SELECTED} objects; narrow it, and repeat the action for the rest");
        return Err(Error::field("filter", text));
    }
    match expected {
        Some(expected) if expected != count => {
            Err(Error::Changed(format!("{expected} objects were confirmed, and the selection has {count} by now")))
        }
        _ => Ok(()),
    }
}
