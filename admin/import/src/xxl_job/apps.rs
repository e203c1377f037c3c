//! Groups become apps.

use carillon_scheduler::validate_app_name;
use foldhash::HashMap;

use super::report::Report;
use super::rows::GroupRow;

/// An app that jobs are imported into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedApp {
    pub name: String,
    pub title: String,
}

/// Characters of a title.
const TITLE: usize = 64;

/// The app of each group, by the group's id.
pub fn map_apps(groups: &[GroupRow], report: &mut Report) -> HashMap<i64, MappedApp> {
    let mut apps: HashMap<i64, MappedApp> = HashMap::default();
    let mut first: HashMap<&str, &GroupRow> = HashMap::default();
    for group in groups {
        let of = format!("app {}", group.app);
        if let Err(why) = validate_app_name(&group.app) {
            report.add("X1", of, why);
            continue;
        }
        if let Some(other) = first.get(group.app.as_str()) {
            report.add("X2", &of, format!("groups {} ({}) and {} ({})", other.id, other.title, group.id, group.title));
        } else {
            first.insert(&group.app, group);
        }
        let addresses = group.addresses.trim_matches(',');
        if group.is_manual && !addresses.is_empty() {
            let list: Vec<&str> = addresses.split(',').map(str::trim).collect();
            report.add("R3", &of, list.join(" "));
        }
        let title = group.title.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TITLE).collect();
        apps.insert(group.id, MappedApp { name: group.app.clone(), title });
    }
    apps
}
