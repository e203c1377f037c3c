//! What a request asked for and was not allowed to do, for the row that the audit gets of it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::audit::object::AuditObject;

/// Objects that are named: of ten thousand the first ones tell what was tried.
const NAMED: usize = 20;

/// Objects that were refused to an actor, also where the answer does not say so. The clones of an actor share them.
#[derive(Clone, Debug, Default)]
pub struct Denials(Arc<Mutex<Option<Denied>>>);

/// Actors are the same whatever they were refused.
impl PartialEq for Denials {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Denials {}

/// What was refused in one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The first object. Its app is none where the others are of other apps: the row names objects of all of them.
    pub object: AuditObject,
    pub count: usize,
    /// The ids of the first objects.
    pub ids: Vec<i64>,
}

impl Denials {
    pub fn add(&self, object: AuditObject) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(denied) = slot.as_mut() else {
            *slot = Some(Denied { object, count: 1, ids: vec![object.id] });
            return;
        };
        denied.count += 1;
        if denied.ids.len() < NAMED {
            denied.ids.push(object.id);
        }
        if denied.object.app_id != object.app_id {
            denied.object.app_id = None;
        }
    }

    /// What was refused since the last call.
    pub fn take(&self) -> Option<Denied> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // covers: S37
    #[test]
    fn many_refusals_are_counted_and_the_first_are_named() {
        let denials = Denials::default();
        assert_eq!(denials.take(), None);
        (1..=25).for_each(|id| denials.clone().add(AuditObject::job(id, 7)));
        let denied = denials.take().unwrap();
        assert_eq!((denied.object, denied.count, denied.ids.len()), (AuditObject::job(1, 7), 25, NAMED));
        assert_eq!(denials.take(), None);
        denials.add(AuditObject::job(1, 7));
        denials.add(AuditObject::job(2, 8));
        denials.add(AuditObject::job(3, 7));
        assert_eq!(denials.take().unwrap().object.app_id, None, "the administrators of one app see none of another");
    }
}
