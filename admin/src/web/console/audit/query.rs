//! The filter of the audit, in the address.

use carillon_scheduler::Zone;
use carillon_store::VisibleApps;
use carillon_store::audit::list::AuditFilter;
use serde::Deserialize;

use crate::web::console::app_filter::WrongFilters;
use crate::web::page::list_address;
use crate::web::text::local_time::moment;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct AuditQuery {
    pub actor: String,
    pub action: String,
    pub object: String,
    pub id: String,
    pub app: String,
    pub source: String,
    /// `2026-11-21T09:00`, in the viewer's zone.
    pub from: String,
    pub to: String,
    pub after: String,
}

impl AuditQuery {
    /// The filter, and what is wrong with it.
    pub fn filter(&self, zone: Zone, apps: VisibleApps) -> (AuditFilter, WrongFilters) {
        let mut wrong = vec![];
        let mut read = |label: &'static str, text: &str, what: &str, is_read: bool| {
            if !text.trim().is_empty() && !is_read {
                wrong.push((label, format!("“{:.64}” is {what}", text.trim())));
            }
        };
        let action = self.action.parse().ok();
        read("action", &self.action, "no action of the audit", action.is_some());
        let object = self.object.parse().ok();
        read("object", &self.object, "no kind of object", object.is_some());
        let object_id = self.id.trim().parse().ok();
        read("object-id", &self.id, "no id; an id is a number", object_id.is_some());
        let time = format!("no time that exists in {}; write it as 2026-01-31T18:30", zone.name());
        let (from, to) = (moment(&self.from, zone), moment(&self.to, zone));
        read("from", &self.from, &time, from.is_some());
        read("to", &self.to, &time, to.is_some());
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let filter = AuditFilter {
            apps,
            actor: text(&self.actor),
            actions: action.into_iter().collect(),
            object,
            object_id,
            app: text(&self.app),
            source: text(&self.source),
            from,
            to,
            after: self.after.parse().ok(),
            limit: 50,
        };
        (filter, wrong)
    }

    fn pairs(&self) -> [(&'static str, &str); 8] {
        [
            ("actor", &self.actor),
            ("action", &self.action),
            ("object", &self.object),
            ("id", &self.id),
            ("app", &self.app),
            ("source", &self.source),
            ("from", &self.from),
            ("to", &self.to),
        ]
    }

    pub fn is_filtered(&self) -> bool {
        self.pairs().iter().any(|(_, value)| !value.is_empty())
    }

    pub fn address(&self, after: &str) -> String {
        list_address("/audit", &[&self.pairs()[..], &[("after", after)]].concat(), None)
    }

    pub fn export_address(&self, format: &str) -> String {
        list_address("/audit/export", &[&self.pairs()[..], &[("format", format)]].concat(), None)
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
