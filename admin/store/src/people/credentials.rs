//! How an account signs in. Each change of it gets a number, so that a sign-in that began before the change does not end after it.

use carillon_scheduler::AuditAction;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::db::pool::transaction::Transaction;
use crate::error::Result;
use crate::people::accounts::AccountChange;
use crate::views::PeopleStore;

/// A password that is to be set.
pub struct NewPassword<'a> {
    pub hash: &'a str,
    /// The tokens of the account end as its sessions do.
    pub revoke_tokens: bool,
    /// It is set only if the credentials of the account are still those that were checked.
    pub credentials: Option<i64>,
}

impl PeopleStore<'_> {
    /// Sets a password. A link for a new password is worth nothing from now on. Returns the number of the credentials; None: they
    /// are not those that were checked.
    ///
    /// # Errors
    /// `Missing`
    pub async fn set_password(
        self,
        account_id: i64,
        new: &NewPassword<'_>,
        now: i64,
        actor: &Actor,
    ) -> Result<Option<i64>> {
        let set = "password_hash = ?";
        let (values, credentials) = (values![new.hash], new.credentials);
        let change = AccountChange { set, values, revoke_tokens: new.revoke_tokens, credentials };
        let changed = self.change_account(account_id, change, now, actor, |_| {
            (AuditAction::Update, json!({"after": {"password": "…"}}))
        });
        changed.await
    }

    /// Whether an enabled account still has the credentials that were checked. Locks it: a change of them has been made, or waits.
    pub(crate) async fn has_credentials(self, tx: &Transaction, account_id: i64, checked: i64) -> Result<bool> {
        let text = "SELECT credentials FROM account WHERE id = ? AND disabled_at IS NULL{for_update}";
        let found: Option<i64> = self.tuple(tx, text, values![account_id]).await?;
        Ok(found == Some(checked))
    }
}
