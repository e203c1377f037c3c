//! Accounts, without their passwords: those are kept there as digests without salt, of four characters at least.

use carillon_accounts::people::name_complaint;
use carillon_store::Store;
use foldhash::{HashMap, HashSet};

use super::apps::MappedApp;
use super::error::Error;
use super::report::Report;
use super::rows::UserRow;

/// An account that is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedUser {
    pub name: String,
    /// None: administrator of all apps; else editor of these.
    pub apps: Option<Vec<String>>,
}

/// Accounts that are not here yet.
pub async fn map_users(
    users: &[UserRow],
    apps: &HashMap<i64, MappedApp>,
    store: &Store,
    report: &mut Report,
) -> Result<Vec<MappedUser>, Error> {
    let there: HashSet<String> = store.people().accounts().await?.into_iter().map(|account| account.name).collect();
    let mut mapped = vec![];
    for user in users {
        let of = format!("user {}", user.name);
        let named = user.permission.split(',').filter_map(|id| apps.get(&id.trim().parse().ok()?));
        let mut names: Vec<String> = named.map(|app| app.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        let refused = if let Some(complaint) = name_complaint(&user.name) {
            complaint
        } else if there.contains(&user.name) {
            "there is an account of this name".to_owned()
        } else if !user.is_admin && names.is_empty() {
            "it may do nothing in any app that is imported".to_owned()
        } else {
            mapped.push(MappedUser { name: user.name.clone(), apps: (!user.is_admin).then_some(names) });
            continue;
        };
        report.add("U1", of, refused);
    }
    Ok(mapped)
}
