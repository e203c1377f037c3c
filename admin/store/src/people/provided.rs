//! Accounts that an OpenID provider vouches for. Their roles follow the groups that the provider names at each sign-in.

use carillon_scheduler::AuditAction;
use serde_json::json;

use crate::audit::actor::Actor;
use crate::audit::change::PendingEntry;
use crate::audit::entry::AuditObject;
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::error::Result;
use crate::people::accounts::{Account, NO_RESET_LINK, NewAccount, SELECT};
use crate::people::grants::Grants;
use crate::views::PeopleStore;

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
    Accepted(ProvidedAccount),
    /// An administrator has disabled the account.
    Disabled(ProvidedAccount),
    /// No group gives a role. There may be an account from former times.
    NoRole(Option<ProvidedAccount>),
}

/// The account of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvidedAccount {
    pub account_id: i64,
    pub name: String,
    /// The number of its credentials.
    pub credentials: i64,
}

impl From<Account> for ProvidedAccount {
    fn from(account: Account) -> Self {
        Self { account_id: account.id, name: account.name, credentials: account.credentials }
    }
}

impl PeopleStore<'_> {
    /// Finds the account of a person, or makes it; gives it the roles that the provider's groups give, and ends its sessions where
    /// those have changed. The provider may so take the last administrator's role: the command line makes another one.
    pub async fn provided_sign_in(self, person: &ProvidedPerson<'_>, now: i64, by: &Actor) -> Result<ProvidedSignIn> {
        // Two browsers may bring a new person at the same time.
        retry::on_race(|| self.try_provided_sign_in(person, now, by)).await
    }

    async fn try_provided_sign_in(self, person: &ProvidedPerson<'_>, now: i64, by: &Actor) -> Result<ProvidedSignIn> {
        let new_id = self.take_id(&ids::ROW).await?;
        let by = Actor { name: "openid".to_owned(), ..by.clone() };
        let (tx, audit) = self.audit().begin_audited(&by, now).await?;
        let text = format!("{SELECT} WHERE identity_hash = ?{{for_update}}");
        let known: Option<Account> = self.one(&tx, &text, values![person.identity_hash]).await?;
        let account = match known {
            Some(account) if account.disabled_at.is_some() => return Ok(ProvidedSignIn::Disabled(account.into())),
            Some(account) => self.follow_provider(&tx, account, person, audit).await?,
            None if person.grants.is_empty() => return Ok(ProvidedSignIn::NoRole(None)),
            None => self.make_provided(&tx, new_id, person, audit).await?,
        };
        tx.commit().await?;
        Ok(match person.grants.is_empty() {
            true => ProvidedSignIn::NoRole(Some(account)),
            false => ProvidedSignIn::Accepted(account),
        })
    }

    /// Gives a known account the roles of today. The provider vouches for it only with a role: its tokens count for a while from then.
    async fn follow_provider(
        self,
        tx: &Transaction,
        mut account: Account,
        person: &ProvidedPerson<'_>,
        audit: PendingEntry<'_>,
    ) -> Result<ProvidedAccount> {
        let now = audit.now;
        if !person.grants.is_empty() {
            let text = "UPDATE account SET provided_at = ? WHERE id = ?";
            self.execute(tx, text, values![now, account.id]).await?;
        }
        if account.grants == *person.grants {
            return Ok(account.into());
        }
        let grants = person.grants.to_string();
        account.credentials += 1;
        let text =
            format!("UPDATE account SET grants = ?, {NO_RESET_LINK}, credentials = ?, updated_at = ? WHERE id = ?");
        self.execute(tx, &text, values![grants.as_str(), account.credentials, now, account.id]).await?;
        self.execute(tx, "DELETE FROM session WHERE account_id = ?", values![account.id]).await?;
        let detail = json!({"before": {"grants": account.grants.to_string()}, "after": {"grants": grants}});
        audit.write(tx, AuditAction::Update, AuditObject::account(account.id), detail).await?;
        Ok(account.into())
    }

    async fn make_provided(
        self,
        tx: &Transaction,
        account_id: i64,
        person: &ProvidedPerson<'_>,
        audit: PendingEntry<'_>,
    ) -> Result<ProvidedAccount> {
        let name = self.free_name(tx, person.names).await?;
        // No hash: no password fits it.
        let new = NewAccount { name: &name, password_hash: "", grants: person.grants };
        self.insert_account(tx, account_id, &new, audit.now).await?;
        let text = "UPDATE account SET identity_hash = ?, issuer = ?, provided_at = ? WHERE id = ?";
        self.execute(tx, text, values![person.identity_hash, person.issuer, audit.now, account_id]).await?;
        let grants = person.grants.to_string();
        let detail = json!({"after": {"name": name, "grants": grants, "issuer": person.issuer}});
        audit.write(tx, AuditAction::Create, AuditObject::account(account_id), detail).await?;
        Ok(ProvidedAccount { account_id, name, credentials: 0 })
    }

    /// The first name that no account has.
    async fn free_name(self, db: &impl sea_orm::ConnectionTrait, names: &[String]) -> Result<String> {
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
