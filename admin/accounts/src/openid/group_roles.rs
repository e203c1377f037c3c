//! Which role a group of the provider gives, and for which app: `ops=admin:all,team-a=operator:orders`.

use std::fmt;
use std::str::FromStr;

use carillon_scheduler::UnknownWord;
use carillon_store::app::rename::FormerName;
use carillon_store::{App, GrantScope, Grants, Role};

/// The roles of the groups. Apps are named, and looked up at each sign-in: an app may be made later than the setting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupRoles(Vec<GroupRole>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct GroupRole {
    group: String,
    role: Role,
    /// None: all apps.
    app: Option<String>,
}

impl GroupRoles {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the members of these groups may do; of several roles in one place the highest counts. An app that was renamed is meant by
    /// its former name, until that is removed.
    pub fn grants(&self, groups: &[String], apps: &[App], former: &[FormerName]) -> Grants {
        let id = |name: &String| {
            let named = apps.iter().find(|app| app.name == *name).map(|app| app.id);
            named.or_else(|| former.iter().find(|former| former.name == *name).map(|former| former.app_id))
        };
        let scope = |app: &Option<String>| match app {
            None => Some(GrantScope::AllApps),
            Some(name) => id(name).map(GrantScope::App),
        };
        let ours = self.0.iter().filter(|line| groups.contains(&line.group));
        let mut lines: Vec<(GrantScope, Role)> = ours.filter_map(|line| Some((scope(&line.app)?, line.role))).collect();
        // The last one of a place stays.
        lines.sort_by_key(|(_, role)| *role);
        lines.into_iter().collect()
    }
}

impl FromStr for GroupRoles {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lines = text.split(',').map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<GroupRole> = lines.map(parse).collect::<Result<_, _>>()?;
        match lines.is_empty() {
            true => {
                Err("it names no group; write GROUP=ROLE:APP, such as ops=admin:all,team-a=operator:orders".to_owned())
            }
            false => Ok(Self(lines)),
        }
    }
}

/// The last `=` and the last `:` divide: names of groups may hold both.
fn parse(line: &str) -> Result<GroupRole, String> {
    let right = "write GROUP=ROLE:APP, such as team-a=operator:orders or ops=admin:all";
    let (group, grant) = line.rsplit_once('=').ok_or_else(|| format!("`{line}` has no role; {right}"))?;
    let (role, app) = grant.split_once(':').ok_or_else(|| format!("`{line}` names no app; {right}"))?;
    let (group, role, app) = (group.trim(), role.trim(), app.trim());
    if group.is_empty() || app.is_empty() {
        return Err(format!("`{line}` has an empty name; {right}"));
    }
    let role = role.parse().map_err(|error: UnknownWord| error.to_string())?;
    Ok(GroupRole { group: group.to_owned(), role, app: (app != "all").then(|| app.to_owned()) })
}

impl fmt::Display for GroupRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, line) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}={}:{}", line.group, line.role, line.app.as_deref().unwrap_or("all"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(id: i64, name: &str) -> App {
        App::new(id, name)
    }

    fn former(name: &str, app_id: i64) -> FormerName {
        FormerName { name: name.to_owned(), app_id, app: String::new(), created_at: 0 }
    }

    // covers: W23
    #[test]
    fn the_highest_role_of_each_place_counts() {
        let roles: GroupRoles =
            "ops=admin:all, team-a=operator:orders,team-b=viewer:orders,old=admin:gone,shop=editor:shop"
                .parse()
                .unwrap();
        let former = [former("shop", 7)];
        let apps = [app(7, "orders"), app(9, "billing")];
        let grants = |groups: &[&str]| {
            let groups: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
            roles.grants(&groups, &apps, &former).to_string()
        };
        assert_eq!(grants(&["team-a", "team-b", "unknown"]), "7:operator");
        assert_eq!(grants(&["team-b", "team-a"]), "7:operator");
        assert_eq!(grants(&["ops", "team-b"]), "all:admin 7:viewer");
        assert_eq!(grants(&["old"]), "", "there is no such app");
        assert_eq!(grants(&["shop"]), "7:editor", "the app was renamed");
        assert_eq!(grants(&["OPS"]), "", "groups are compared as they are");
        assert_eq!(grants(&[]), "");
    }

    #[test]
    fn names_of_groups_may_hold_what_divides() {
        let roles: GroupRoles = "cn=ops:all=viewer:all,/a b/c=editor:billing".parse().unwrap();
        assert_eq!(roles.0[0].group, "cn=ops:all");
        assert_eq!(roles.0[1].group, "/a b/c");
        assert_eq!(roles.to_string().parse::<GroupRoles>().unwrap(), roles);
        for (wrong, said) in [
            ("", "names no group"),
            ("ops", "has no role"),
            ("ops=admin", "names no app"),
            ("ops=root:all", "`root` is not a role; allowed: viewer"),
            ("=admin:all", "has an empty name"),
            ("ops=admin:", "has an empty name"),
        ] {
            let complaint = wrong.parse::<GroupRoles>().unwrap_err();
            assert!(complaint.contains(said), "{wrong}: {complaint}");
        }
    }
}
