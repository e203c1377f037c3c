//! Accounts of people. A change of what an account may do or how it signs in ends its sessions, on all nodes.

use std::sync::atomic::Ordering;

use carillon_scheduler::AuditAction;
use sea_orm::{ConnectionTrait, Value};
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::rows::WordOrDefault;
use crate::db::sql::unique_key::UniqueKey;
use crate::error::{Error, Result};
use crate::people::grants::{Grants, Role};
use crate::views::PeopleStore;

/// Belongs to each change of the credentials: what ends the sessions of an intruder must not leave a link for a new password.
pub(crate) const NO_RESET_LINK: &str = "reset_hash = NULL, reset_expires_at = NULL";

row_struct! {
    /// A person who may sign in to the console.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Account {
        pub id: i64,
        pub name: String,
        /// A PHC string; holds algorithm, parameters and salt.
        pub password_hash: String,
        pub grants: Grants as WordOrDefault,
        /// Since when it may not sign in.
        pub disabled_at: Option<i64>,
        pub created_at: i64,
        /// The OpenID provider that it signs in with. None: a password.
        pub issuer: Option<String>,
        /// Since when a code is asked for after the password.
        pub totp_since: Option<i64>,
        /// Counts the changes of how it signs in. What was checked under another number counts no more.
        pub credentials: i64,
    }
}

pub(crate) const SELECT: &str = "SELECT id, name, password_hash, COALESCE(grants, '') AS grants, disabled_at, created_at, \
                                 issuer, totp_since, credentials FROM account";

impl Account {
    fn is_admin_of_all(&self) -> bool {
        self.disabled_at.is_none() && self.grants.role_for_all() == Some(Role::Admin)
    }
}

/// An account that is to be made.
pub struct NewAccount<'a> {
    pub name: &'a str,
    pub password_hash: &'a str,
    pub grants: &'a Grants,
}

/// What is to become of a row.
pub(crate) struct AccountChange<'a> {
    pub set: &'a str,
    pub values: Vec<Value>,
    pub revoke_tokens: bool,
    /// The change is made only if the credentials are these.
    pub credentials: Option<i64>,
}

impl PeopleStore<'_> {
    /// False: there is no account to sign in with yet, and the console offers nothing but setting up.
    pub async fn has_accounts(self) -> Result<bool> {
        // The last administrator is never removed.
        if self.has_accounts.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let first: Option<i64> = self.tuple(&self.read, "SELECT id FROM account LIMIT 1", vec![]).await?;
        self.has_accounts.store(first.is_some(), Ordering::Relaxed);
        Ok(first.is_some())
    }

    /// All accounts, by name.
    pub async fn accounts(self) -> Result<Vec<Account>> {
        self.all(&self.read, &format!("{SELECT} ORDER BY name"), vec![]).await
    }

    pub async fn account(self, id: i64) -> Result<Option<Account>> {
        self.one(&self.read, &format!("{SELECT} WHERE id = ?"), values![id]).await
    }

    pub async fn account_by_name(self, name: &str) -> Result<Option<Account>> {
        self.one(&self.read, &format!("{SELECT} WHERE name = ?"), values![name]).await
    }

    /// Makes an account; [`Error::Taken`] if the name is.
    pub async fn create_account(self, new: &NewAccount<'_>, now: i64, actor: &Actor) -> Result<i64> {
        self.make_account(new, None, now, actor).await
    }

    /// The same with a link for its first password: its hash and its end.
    pub async fn invite_account(self, new: &NewAccount<'_>, link: (&str, i64), now: i64, actor: &Actor) -> Result<i64> {
        self.make_account(new, Some(link), now, actor).await
    }

    async fn make_account(
        self,
        new: &NewAccount<'_>,
        link: Option<(&str, i64)>,
        now: i64,
        actor: &Actor,
    ) -> Result<i64> {
        let id = self.take_id(&ids::ROW).await?;
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        self.insert_account(&tx, id, new, now).await?;
        let mut detail = json!({"after": {"name": new.name, "grants": new.grants.to_string()}});
        if let Some((hash, expires_at)) = link {
            let text = "UPDATE account SET reset_hash = ?, reset_expires_at = ? WHERE id = ?";
            self.execute(&tx, text, values![hash, expires_at, id]).await?;
            detail["link_expires_at"] = expires_at.into();
        }
        audit.commit(tx, AuditAction::Create, AuditObject::account(id), detail).await?;
        Ok(id)
    }

    pub(crate) async fn insert_account(
        self,
        db: &impl ConnectionTrait,
        id: i64,
        new: &NewAccount<'_>,
        now: i64,
    ) -> Result<()> {
        let NewAccount { name, password_hash, grants } = *new;
        let row = named![id, name, password_hash, grants: grants.to_string(), created_at: now, updated_at: now];
        self.insert_row(db, "account", row).await.map_err(|error| error.or_taken(UniqueKey::AccountName, name))
    }

    /// Sets what the account may do.
    ///
    /// # Errors
    /// `Missing`; `InUse`: no administrator of all apps would be left.
    pub async fn set_grants(self, account_id: i64, grants: &Grants, now: i64, actor: &Actor) -> Result<()> {
        let text = grants.to_string();
        let (set, values) = ("grants = ?", values![text.as_str()]);
        let change = AccountChange { set, values, revoke_tokens: false, credentials: None };
        let changed = self.change_account(account_id, change, now, actor, |before| {
            (AuditAction::Update, json!({"before": {"grants": before.grants.to_string()}, "after": {"grants": text}}))
        });
        changed.await.map(drop)
    }

    /// Lets an account sign in or not. Its tokens end: what an intruder has made must not come back with the account.
    ///
    /// # Errors
    /// `Missing`; `InUse`: no administrator of all apps would be left.
    pub async fn set_account_enabled(self, account_id: i64, enabled: bool, now: i64, actor: &Actor) -> Result<()> {
        let (set, values) = ("disabled_at = ?", values![(!enabled).then_some(now)]);
        let change = AccountChange { set, values, revoke_tokens: true, credentials: None };
        let action = if enabled { AuditAction::Enable } else { AuditAction::Disable };
        let changed = self.change_account(account_id, change, now, actor, |before| {
            (action, json!({"before": {"enabled": !enabled}, "after": {"enabled": enabled}, "name": before.name}))
        });
        changed.await.map(drop)
    }

    /// Removes an account with its sessions and tokens. The audit keeps its name.
    ///
    /// # Errors
    /// `Missing`; `InUse`: no administrator of all apps would be left.
    pub async fn delete_account(self, account_id: i64, now: i64, actor: &Actor) -> Result<()> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let before = self.locked_account(&tx, account_id).await?;
        for text in [
            "DELETE FROM session WHERE account_id = ?",
            "DELETE FROM api_token WHERE account_id = ?",
            "DELETE FROM recovery_code WHERE account_id = ?",
            "DELETE FROM account WHERE id = ?",
        ] {
            self.execute(&tx, text, values![account_id]).await?;
        }
        self.must_keep_admin(&tx, &before).await?;
        let detail = json!({"before": {"name": before.name, "grants": before.grants.to_string()}});
        audit.commit(tx, AuditAction::Delete, AuditObject::account(account_id), detail).await
    }

    /// Changes columns of an account, writes the audit, and ends the sessions of the account. Returns the number of its credentials
    /// from now on; None: they are not those that the change is for.
    pub(crate) async fn change_account(
        self,
        account_id: i64,
        AccountChange { set, mut values, revoke_tokens, credentials }: AccountChange<'_>,
        now: i64,
        actor: &Actor,
        describe: impl FnOnce(&Account) -> (AuditAction, serde_json::Value),
    ) -> Result<Option<i64>> {
        let (tx, audit) = self.audit().begin_audited(actor, now).await?;
        let before = self.locked_account(&tx, account_id).await?;
        if credentials.is_some_and(|checked| checked != before.credentials) {
            return Ok(None);
        }
        let credentials = before.credentials + 1;
        values.extend(values![credentials, now, account_id]);
        let text = format!("UPDATE account SET {set}, {NO_RESET_LINK}, credentials = ?, updated_at = ? WHERE id = ?");
        self.execute(&tx, &text, values).await?;
        self.must_keep_admin(&tx, &before).await?;
        self.execute(&tx, "DELETE FROM session WHERE account_id = ?", values![account_id]).await?;
        let (action, mut detail) = describe(&before);
        if revoke_tokens {
            self.revoke_tokens_of(&tx, account_id, &mut detail).await?;
        }
        audit.commit(tx, action, AuditObject::account(account_id), detail).await?;
        Ok(Some(credentials))
    }

    /// Locks all accounts: of two changes at once, each would count the other's administrator.
    async fn locked_account(self, tx: &Transaction, account_id: i64) -> Result<Account> {
        let all: Vec<Account> = self.all(tx, &format!("{SELECT} ORDER BY id{{for_update}}"), vec![]).await?;
        let found = all.into_iter().find(|account| account.id == account_id);
        found.ok_or_else(|| Error::Missing(format!("the user {account_id}")))
    }

    async fn must_keep_admin(self, tx: &Transaction, before: &Account) -> Result<()> {
        if !before.is_admin_of_all() {
            return Ok(());
        }
        let all: Vec<Account> = self.all(tx, SELECT, vec![]).await?;
        match all.iter().any(Account::is_admin_of_all) {
            true => Ok(()),
            false => Err(Error::InUse(format!(
                "{:?} is the last administrator of all apps; make another one first",
                before.name
            ))),
        }
    }

    /// The language in which the account reads the console; its own preference, so without an audit entry.
    pub async fn set_language(self, account_id: i64, language: &str) -> Result<()> {
        let text = "UPDATE account SET language = ? WHERE id = ?";
        self.execute(&self.changes, text, values![language, account_id]).await.map(drop)
    }

    /// The same password under newer parameters: its sessions stay.
    pub async fn rehash_password(self, account_id: i64, old: &str, new: &str) -> Result<()> {
        let text = "UPDATE account SET password_hash = ? WHERE id = ? AND password_hash = ?";
        self.execute(&self.changes, text, values![new, account_id, old]).await.map(drop)
    }
}
