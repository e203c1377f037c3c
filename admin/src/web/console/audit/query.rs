//! The filter of the audit, in the address.

use carillon_scheduler::Zone;
use carillon_store::VisibleApps;
use carillon_store::audit::list::AuditFilter;

use crate::web::console::filters::{WrongFilters, given, list_query, read, read_range};

list_query! {
    pub struct AuditQuery {
        filters: [
            actor,
            action,
            object,
            id,
            app,
            source,
            /// `2026-11-21T09:00`, in the viewer's zone.
            from,
            to,
        ],
        after: String,
    }
}

impl AuditQuery {
    /// The filter, and what is wrong with it.
    pub fn filter(&self, zone: Zone, apps: VisibleApps) -> (AuditFilter, WrongFilters) {
        let mut wrong = vec![];
        let action = read(&mut wrong, "action", &self.action, "no action of the audit", |word| word.parse().ok());
        let object = read(&mut wrong, "object", &self.object, "no kind of object", |word| word.parse().ok());
        let id = |text: &str| text.parse().ok();
        let object_id = read(&mut wrong, "object-id", &self.id, "no id; an id is a number", id);
        let [from, to] = read_range(&mut wrong, [&self.from, &self.to], zone);
        let filter = AuditFilter {
            apps,
            actor: given(&self.actor),
            actions: action.into_iter().collect(),
            object,
            object_id,
            app: given(&self.app),
            source: given(&self.source),
            from,
            to,
            after: self.after.parse().ok(),
            limit: 50,
        };
        (filter, wrong)
    }

    pub fn address(&self, after: &str) -> String {
        self.address_of("/audit", &[("after", after)], None)
    }

    pub fn export_address(&self, format: &str) -> String {
        self.address_of("/audit/export", &[("format", format)], None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_says_it_all() {
        let query = AuditQuery { actor: "a b".into(), action: "kill".into(), ..AuditQuery::default() };
        assert_eq!(query.address("5-7"), "/audit?actor=a+b&action=kill&after=5-7");
        assert_eq!(query.export_address("csv"), "/audit/export?actor=a+b&action=kill&format=csv");
        assert_eq!(query.filter(Zone::UTC, VisibleApps::All).0.actions.len(), 1);
        let wrong = AuditQuery { object: "x".into(), id: "seven".into(), ..AuditQuery::default() };
        assert_eq!(wrong.filter(Zone::UTC, VisibleApps::All).1.len(), 2);
    }
}
