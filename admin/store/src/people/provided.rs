//! Accounts that an OpenID provider vouches for. Their roles follow the groups that the provider names at each sign-in.

use carillon_scheduler::AuditAction;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::sql::retry;
use crate::error::Result;
use crate::people::accounts::{Account, NewAccount, SELECT};
use crate::people::grants::Grants;
use crate::store::Store;

/// A person as the provider describes them.
pub struct ProvidedPerson<'a> {
    /// The hash of issuer and subject: names may change, and another provider may have the same ones.
    pub identity_hash: &'a str,
    pub issuer: &'a str,
    /// Names for the account, the best first; the last one must be free.
    pub names: &'a [String],
    pub grants: &'a Grants,
}

/// Whether the person may sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProvidedSignIn {
    Accepted {
        account_id: i64,
        name: String,
    },
    /// An administrator has disabled the account.
    Disabled,
    /// No group gives a role.
    NoRole,
}

impl Store {
    /// Finds the account of a person, or makes it; gives it the roles that the provider's groups give, and ends its sessions where
    /// those have changed. The provider may so take the last administrator's role: the command line makes another one.
    pub async fn provided_sign_in(&self, person: &ProvidedPerson<'_>, now: i64, by: &Actor) -> Result<ProvidedSignIn> {
        // Two browsers may bring a new person at the same time.
        retry::on_race(|| self.try_provided_sign_in(person, now, by)).await
    }

    async fn try_provided_sign_in(&self, person: &ProvidedPerson<'_>, now: i64, by: &Actor) -> Result<ProvidedSignIn> {
        let ids = self.take_ids(&ids::ROW, 2).await?;
        let by = Actor { name: "openid".to_owned(), ..by.clone() };
        let tx = self.begin_change().await?;
        let text = format!("{SELECT} WHERE identity_hash = ?{{for_update}}");
        let known: Option<Account> = self.one(&tx, &text, values![person.identity_hash]).await?;
        let grants = person.grants.to_string();
        let (account, entry) = match known {
            Some(account) if account.disabled_at.is_some() => return Ok(ProvidedSignIn::Disabled),
            Some(account) if account.grants == *person.grants => ((account.id, account.name), None),
            Some(account) => {
                let text = "UPDATE account SET grants = ?, updated_at = ? WHERE id = ?";
                self.execute(&tx, text, values![grants.as_str(), now, account.id]).await?;
                self.execute(&tx, "DELETE FROM session WHERE account_id = ?", values![account.id]).await?;
                let detail = json!({"before": {"grants": account.grants.to_string()}, "after": {"grants": grants}});
                let entry = AuditEntry::new(&by, now, AuditAction::Update, AuditObject::account(account.id), detail);
                ((account.id, account.name), Some(entry))
            }
            None if person.grants.is_empty() => return Ok(ProvidedSignIn::NoRole),
            None => {
                let name = self.free_name(&tx, person.names).await?;
                // No hash: no password fits it.
                let new = NewAccount { name: &name, password_hash: "", grants: person.grants };
                self.insert_account(&tx, ids[0], &new, now).await?;
                let text = "UPDATE account SET identity_hash = ?, issuer = ? WHERE id = ?";
                self.execute(&tx, text, values![person.identity_hash, person.issuer, ids[0]]).await?;
                let detail = json!({"after": {"name": name, "grants": grants, "issuer": person.issuer}});
                let entry = AuditEntry::new(&by, now, AuditAction::Create, AuditObject::account(ids[0]), detail);
                ((ids[0], name), Some(entry))
            }
        };
        if let Some(entry) = entry {
            self.audit(&tx, vec![entry], &ids[1..]).await?;
        }
        tx.commit().await?;
        Ok(match person.grants.is_empty() {
            true => ProvidedSignIn::NoRole,
            false => ProvidedSignIn::Accepted { account_id: account.0, name: account.1 },
        })
    }

    /// The first name that no account has.
    async fn free_name(&self, db: &impl sea_orm::ConnectionTrait, names: &[String]) -> Result<String> {
        for name in names {
            let taken: Option<i64> =
                self.tuple(db, "SELECT id FROM account WHERE name = ?", values![name.as_str()]).await?;
            if taken.is_none() {
                return Ok(name.clone());
            }
        }
        Ok(names.last().cloned().unwrap_or_default())
    }
}
