//! What an account or a token may do: a role for each of some apps, or for all apps, and the right to scripts beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use carillon_scheduler::{UnknownWord, words};

words! {
    /// From the least to the most; each includes those before it.
    pub enum Role: "role" {
        /// Sees jobs, runs, logs and executors.
        Viewer = 0 "viewer",
        /// Runs, pauses and resumes jobs, and ends and resolves runs.
        Operator = 1 "operator",
        /// Makes, changes and deletes jobs.
        Editor = 2 "editor",
        /// Sets what belongs to the app as a whole; for all apps: also apps, accounts and what all apps share.
        Admin = 3 "admin",
    }
}

/// The word of the right to scripts, in the place of a role.
const SCRIPT: &str = "script";

/// Where a role counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GrantScope {
    AllApps,
    App(i64),
}

/// Roles by scope; the default grants nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    roles: BTreeMap<GrantScope, Role>,
    /// Where it may read and write scripts. No role includes that.
    scripts: BTreeSet<GrantScope>,
}

impl Grants {
    /// A role for all apps.
    pub fn for_all(role: Role) -> Self {
        Self::from_iter([(GrantScope::AllApps, role)])
    }

    /// A role for one app.
    pub fn for_app(app_id: i64, role: Role) -> Self {
        Self::from_iter([(GrantScope::App(app_id), role)])
    }

    /// The role for this app.
    pub fn role_for(&self, app_id: i64) -> Option<Role> {
        self.role_for_all().max(self.roles.get(&GrantScope::App(app_id)).copied())
    }

    /// The role for all apps.
    pub fn role_for_all(&self) -> Option<Role> {
        self.roles.get(&GrantScope::AllApps).copied()
    }

    /// The highest role, wherever it counts.
    pub fn highest(&self) -> Option<Role> {
        self.roles.values().copied().max()
    }

    /// The same grants with the right to scripts in these scopes.
    #[must_use]
    pub fn with_scripts(mut self, scopes: impl IntoIterator<Item = GrantScope>) -> Self {
        self.scripts.extend(scopes);
        self
    }

    /// Whether it may read and write the scripts of this app's jobs, if its role lets it edit them.
    pub fn has_scripts(&self, app_id: i64) -> bool {
        self.has_scripts_in(GrantScope::App(app_id))
    }

    fn has_scripts_in(&self, scope: GrantScope) -> bool {
        self.scripts.contains(&GrantScope::AllApps) || self.scripts.contains(&scope)
    }

    /// Where it has the right to scripts: all apps first, then the apps by their ids.
    pub fn scripts(&self) -> impl Iterator<Item = GrantScope> {
        self.scripts.iter().copied()
    }

    /// What both allow: a token never exceeds the account that it belongs to.
    pub fn within(&self, limit: &Self) -> Self {
        let scopes = self.roles.keys().chain(limit.roles.keys());
        let role = |grants: &Self, scope: &GrantScope| match scope {
            GrantScope::AllApps => grants.role_for_all(),
            GrantScope::App(id) => grants.role_for(*id),
        };
        let roles: Self =
            scopes.filter_map(|scope| Some((*scope, role(self, scope)?.min(role(limit, scope)?)))).collect();
        let scripts = self.scripts.iter().chain(&limit.scripts).copied();
        roles.with_scripts(scripts.filter(|scope| self.has_scripts_in(*scope) && limit.has_scripts_in(*scope)))
    }

    /// The apps that lists show.
    pub fn visible_apps(&self) -> VisibleApps {
        if self.role_for_all().is_some() {
            return VisibleApps::All;
        }
        VisibleApps::Only(self.roles.keys().filter_map(|scope| scope.app_id()).collect())
    }

    /// The apps that it administers.
    pub fn administered_apps(&self) -> VisibleApps {
        if self.role_for_all() == Some(Role::Admin) {
            return VisibleApps::All;
        }
        let own = self.roles.iter().filter(|(_, role)| **role == Role::Admin);
        VisibleApps::Only(own.filter_map(|(scope, _)| scope.app_id()).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.roles.is_empty() && self.scripts.is_empty()
    }

    /// The roles: all apps first, then the apps by their ids.
    pub fn iter(&self) -> impl Iterator<Item = (GrantScope, Role)> {
        self.roles.iter().map(|(scope, role)| (*scope, *role))
    }
}

impl GrantScope {
    pub fn app_id(self) -> Option<i64> {
        match self {
            Self::AllApps => None,
            Self::App(id) => Some(id),
        }
    }
}

impl FromIterator<(GrantScope, Role)> for Grants {
    fn from_iter<T: IntoIterator<Item = (GrantScope, Role)>>(grants: T) -> Self {
        Self { roles: grants.into_iter().collect(), scripts: BTreeSet::new() }
    }
}

/// As the database keeps them: `all:viewer 7:editor`, and `7:script` for the right to scripts.
impl fmt::Display for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roles = self.iter().map(|(scope, role)| (scope, role.as_str()));
        let scripts = self.scripts().map(|scope| (scope, SCRIPT));
        for (place, (scope, word)) in roles.chain(scripts).enumerate() {
            let space = if place == 0 { "" } else { " " };
            match scope {
                GrantScope::AllApps => write!(f, "{space}all:{word}")?,
                GrantScope::App(id) => write!(f, "{space}{id}:{word}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Grants {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut grants = Self::default();
        for word in text.split_whitespace() {
            let (scope, role) = word.split_once(':').ok_or_else(|| format!("the grant `{word}`"))?;
            let scope = match scope {
                "all" => GrantScope::AllApps,
                id => GrantScope::App(id.parse().map_err(|_| format!("the grant `{word}`"))?),
            };
            if role == SCRIPT {
                grants.scripts.insert(scope);
            } else {
                grants.roles.insert(scope, role.parse().map_err(|error: UnknownWord| error.to_string())?);
            }
        }
        Ok(grants)
    }
}

/// The apps of which a list shows the objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum VisibleApps {
    #[default]
    All,
    Only(Vec<i64>),
}

impl VisibleApps {
    /// A condition on a column with an app's id. The ids are numbers, so they stand in the text.
    pub(crate) fn condition(&self, column: &str) -> String {
        match self {
            Self::All => "1 = 1".to_owned(),
            Self::Only(ids) if ids.is_empty() => "1 = 0".to_owned(),
            Self::Only(ids) => {
                let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
                format!("{column} IN ({})", ids.join(","))
            }
        }
    }

    /// The same with AND before it; nothing where all are visible, so that the statement stays as it is.
    pub(crate) fn and(&self, column: &str) -> String {
        match self {
            Self::All => String::new(),
            Self::Only(_) => format!(" AND {}", self.condition(column)),
        }
    }

    /// A condition on a column with a job's id.
    pub(crate) fn job_condition(&self, column: &str) -> String {
        format!("{column} IN (SELECT id FROM job WHERE {})", self.condition("app_id"))
    }

    /// The same with AND before it.
    pub(crate) fn and_job(&self, column: &str) -> String {
        match self {
            Self::All => String::new(),
            Self::Only(_) => format!(" AND {}", self.job_condition(column)),
        }
    }

    /// This app is among them.
    pub fn has(&self, app_id: i64) -> bool {
        match self {
            Self::All => true,
            Self::Only(ids) => ids.contains(&app_id),
        }
    }

    pub fn is_all(&self) -> bool {
        *self == Self::All
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grants(text: &str) -> Grants {
        text.parse().unwrap()
    }

    // covers: V12.8
    #[test]
    fn grants_are_stored_as_they_are_read() {
        for text in
            ["", "all:admin", "all:viewer 7:editor", "7:viewer 12:admin", "7:editor 7:script", "all:admin all:script"]
        {
            assert_eq!(grants(text).to_string(), text);
        }
        for wrong in ["admin", "all:root", "x:viewer", "7"] {
            assert!(wrong.parse::<Grants>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_role_for_all_counts_for_each_app_and_the_higher_one_wins() {
        let both = grants("all:viewer 7:editor");
        assert_eq!((both.role_for(7), both.role_for(8)), (Some(Role::Editor), Some(Role::Viewer)));
        assert_eq!((both.role_for_all(), both.highest()), (Some(Role::Viewer), Some(Role::Editor)));
        assert_eq!(grants("7:admin").role_for(8), None);
        assert_eq!(grants("all:admin 7:viewer").role_for(7), Some(Role::Admin));
    }

    // covers: S9
    #[test]
    fn a_token_never_exceeds_its_account() {
        let cases = [
            ("all:admin", "all:viewer 7:editor", "all:viewer 7:editor"),
            ("all:operator", "7:editor 8:viewer", "7:operator 8:viewer"),
            ("7:editor 9:viewer", "all:operator", "7:operator 9:viewer"),
            ("7:editor", "8:admin", ""),
            ("all:admin", "", ""),
            ("all:editor all:script", "7:editor 7:script 8:admin", "7:editor 8:editor 7:script"),
            ("7:editor", "7:editor 7:script", "7:editor"),
        ];
        for (token, account, allowed) in cases {
            assert_eq!(grants(token).within(&grants(account)).to_string(), allowed, "{token} within {account}");
        }
    }

    // covers: S26
    #[test]
    fn no_role_includes_the_right_to_scripts() {
        assert!(!grants("all:admin 7:admin").has_scripts(7));
        assert!(grants("7:editor 7:script").has_scripts(7) && !grants("7:editor 7:script").has_scripts(8));
        assert!(grants("all:editor all:script").has_scripts(8));
    }

    #[test]
    fn lists_show_the_apps_of_the_grants() {
        assert_eq!(grants("all:viewer 7:editor").visible_apps(), VisibleApps::All);
        assert_eq!(grants("7:viewer 9:admin").visible_apps().condition("a"), "a IN (7,9)");
        assert_eq!(Grants::default().visible_apps().condition("a"), "1 = 0");
        assert_eq!(VisibleApps::All.and("a"), "");
    }
}
