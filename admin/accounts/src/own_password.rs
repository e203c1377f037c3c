//! A person changes the own password.

use carillon_scheduler::Millis;
use carillon_store::{Actor, Store};

use crate::password::{self, Error};
use crate::sign_in::{self, Client, SignIn};

/// The result of an attempt to change the own password.
pub enum PasswordChange {
    Done,
    /// The current password is another one.
    WrongCurrent,
    /// What is wrong with the new one.
    Refused(String),
    /// There were too many failed attempts.
    Throttled {
        until_at: Millis,
    },
}

/// Needs the current password: who finds an open browser cannot take the account over. All sessions of the account end, the own one
/// too.
///
/// # Errors
/// The database could not be asked, or the password not be hashed.
pub async fn change(
    store: &Store,
    account_id: i64,
    current: &str,
    new: &str,
    now: Millis,
    by: &Actor,
) -> Result<PasswordChange, Error> {
    if let Some(complaint) = password::complaint(new, &by.name) {
        return Ok(PasswordChange::Refused(complaint));
    }
    let client = Client { by, proof: None };
    match sign_in::check(store, &by.name, current, client, now).await? {
        SignIn::Accepted { account_id: found, .. } if found == account_id => {}
        SignIn::Throttled { until_at } => return Ok(PasswordChange::Throttled { until_at }),
        _ => return Ok(PasswordChange::WrongCurrent),
    }
    let hash = password::hash(new).await?;
    store.set_password(account_id, &hash, now, by).await?;
    Ok(PasswordChange::Done)
}
