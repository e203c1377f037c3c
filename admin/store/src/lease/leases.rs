//! Shards: their count, and the lease of each with its epoch. The database is what decides who holds a shard.

use sea_orm::{ConnectionTrait, FromQueryResult, Value};

use crate::audit::actor::Actor;
use crate::audit::entry::{AuditEntry, AuditObject};
use crate::db::ids;
use crate::db::pool::transaction::Transaction;
use crate::db::sql::retry;
use crate::db::sql::template::database_now;
use crate::error::{Error, Result};
use crate::views::LeaseStore;
use carillon_scheduler::{AuditAction, AuditObjectKind, Millis};
use serde_json::json;

/// The number of shards of a new database if the first node has no `--shards`.
pub const DEFAULT_SHARDS: i32 = 8;

/// A lease as every node sees it.
#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct Lease {
    pub shard: i32,
    pub epoch: i64,
    pub owner: String,
    pub expires_at: Millis,
}

pub(crate) const COLUMNS: &str = "shard, epoch, owner, expires_at";

impl LeaseStore<'_> {
    /// The shard count of this database: stored once, by the first node. A different wish is refused.
    pub async fn ensure_shards(self, wanted: Option<i32>) -> Result<i32> {
        // Two nodes may start on an empty database: the faster one's count stands.
        let count = retry::on_race(|| self.stored_shards(wanted)).await?;
        match wanted {
            Some(wanted) if wanted != count => Err(Error::Settings(format!(
                "--shards {wanted} (CARILLON_SHARDS) differs from the {count} shards of this database; drop the flag"
            ))),
            _ => Ok(count),
        }
    }

    async fn stored_shards(self, wanted: Option<i32>) -> Result<i32> {
        let tx = self.begin().await?;
        let count = match self.setting(&tx, "shards").await? {
            Some(stored) => stored.parse().map_err(|_| Error::Corrupt(format!("setting shards = {stored:?}")))?,
            None => self.create_shards(&tx, wanted.unwrap_or(DEFAULT_SHARDS)).await?,
        };
        tx.commit().await?;
        Ok(count)
    }

    async fn create_shards(self, tx: &Transaction, count: i32) -> Result<i32> {
        self.insert_rows(tx, "setting", "name, value", vec![values!["shards", count.to_string()]]).await?;
        let leases = (0..count).map(|shard| values![shard, 0i64, "", 0i64]);
        self.insert_rows(tx, "shard_lease", COLUMNS, leases.collect()).await?;
        Ok(count)
    }

    /// The name of this cluster, random, made with its database: it keeps the locks of two clusters in one Redis apart.
    pub async fn cluster(self) -> Result<String> {
        self.random_setting("cluster", || format!("{:016x}", rand::random::<u64>())).await
    }

    /// The key that signs the addresses of callbacks, random, the same for all nodes of the database.
    pub async fn callback_key(self) -> Result<String> {
        self.random_setting("callback_key", || {
            format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>())
        })
        .await
    }

    /// The key that signs what browsers carry to the OpenID provider and back, random, the same for all nodes of the database.
    pub async fn sign_in_key(self) -> Result<String> {
        self.random_setting("sign_in_key", || format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>()))
            .await
    }

    async fn random_setting(self, name: &str, make: impl Fn() -> String) -> Result<String> {
        if self.setting(&self.write, name).await?.is_none() {
            let row = values![name, make()];
            match self.insert_rows(&self.write, "setting", "name, value", vec![row]).await {
                // Another node was faster: its name counts.
                Err(error) if error.is_unique_violation() => {}
                other => other?,
            }
        }
        let value = self.setting(&self.write, name).await?;
        value.ok_or_else(|| Error::Missing(format!("setting {name}")))
    }

    pub(crate) async fn setting(self, db: &impl ConnectionTrait, name: &str) -> Result<Option<String>> {
        self.tuple(db, "SELECT value FROM setting WHERE name = ?", values![name]).await
    }

    /// Where no other process can be alive (SQLite), the leases and the node that a killed one left are worth nothing.
    pub async fn reset_exclusive_leases(self) -> Result<()> {
        debug_assert!(self.is_exclusive());
        self.execute(&self.write, "UPDATE shard_lease SET expires_at = 0", vec![]).await?;
        self.execute(&self.write, "UPDATE node SET address = ''", vec![]).await.map(drop)
    }

    pub async fn list(self) -> Result<Vec<Lease>> {
        let text = format!("SELECT {COLUMNS} FROM shard_lease ORDER BY shard");
        self.all(&self.write, &text, vec![]).await
    }

    /// The gate: a new epoch for `owner`, if the lease is over or already its own. None: another node holds it.
    pub async fn take(self, shard: i32, owner: &str, now: Millis, ttl_ms: i64) -> Result<Option<i64>> {
        let (clock, at) = self.clock(now);
        let text = format!(
            "UPDATE shard_lease SET epoch = epoch + 1, owner = ?, expires_at = {clock} + ? \
             WHERE shard = ? AND (expires_at < {clock} OR owner = ?)"
        );
        let mut values = values![owner];
        values.extend(at.clone());
        values.extend(values![ttl_ms, shard]);
        values.extend(at);
        values.push(owner.into());
        let tx = self.begin().await?;
        if self.execute(&tx, &text, values).await? == 0 {
            return Ok(None);
        }
        let epoch = self.tuple(&tx, "SELECT epoch FROM shard_lease WHERE shard = ?", values![shard]).await?;
        let epoch = epoch.ok_or_else(|| Error::Missing(format!("shard {shard}")))?;
        tx.commit().await?;
        Ok(Some(epoch))
    }

    /// Extends the lease while its epoch is still `epoch`. False: another node has taken it.
    pub async fn renew(self, shard: i32, epoch: i64, now: Millis, ttl_ms: i64) -> Result<bool> {
        self.extend_lease(&self.write, shard, epoch, now, ttl_ms).await
    }

    /// A lease that was given back stays so: a claim that was on its way meanwhile may still be recorded, but must not
    /// close the door to the next holder for a whole TTL.
    async fn extend_lease(
        self,
        db: &impl ConnectionTrait,
        shard: i32,
        epoch: i64,
        now: Millis,
        ttl_ms: i64,
    ) -> Result<bool> {
        let (clock, at) = self.clock(now);
        let text = format!(
            "UPDATE shard_lease SET expires_at = CASE WHEN expires_at = 0 THEN 0 ELSE {clock} + ? END \
             WHERE shard = ? AND epoch = ?"
        );
        let mut values: Vec<Value> = at.into_iter().collect();
        values.extend(values![ttl_ms, shard, epoch]);
        Ok(self.execute(db, &text, values).await? == 1)
    }

    /// The present moment as a statement says it, and the value that goes with it.
    fn clock(self, now: Millis) -> (&'static str, Option<Value>) {
        let value = self.is_exclusive().then(|| now.into());
        (database_now(self.backend), value)
    }

    /// Gives the shard back at once, for the next node.
    pub async fn release(self, shard: i32, epoch: i64) -> Result<()> {
        let text = "UPDATE shard_lease SET expires_at = 0 WHERE shard = ? AND epoch = ?";
        self.execute(&self.write, text, values![shard, epoch]).await.map(drop)
    }

    /// The fence of a claim: the first statement of its transaction, and the heartbeat of the lease at the same time.
    pub(crate) async fn fence(self, tx: &Transaction, shard: i32, epoch: i64, now: Millis, ttl_ms: i64) -> Result<()> {
        match self.extend_lease(tx, shard, epoch, now, ttl_ms).await? {
            true => Ok(()),
            false => Err(Error::Fenced(shard)),
        }
    }

    /// What the database's clock says; None on SQLite, where it is this process's own.
    pub async fn database_now(self) -> Result<Option<Millis>> {
        if self.is_exclusive() {
            return Ok(None);
        }
        self.tuple(&self.write, &format!("SELECT {}", database_now(self.backend)), vec![]).await
    }

    /// After an older state of the database was restored: epochs above all that nodes may remember, and ids above all that
    /// may have been given out since. Answers how many shards there are.
    ///
    /// Nodes that stopped because the database went backwards continue by themselves.
    pub async fn resync(self, now: Millis, actor: &Actor) -> Result<usize> {
        let audit_id = self.take_id(&ids::ROW).await?;
        let tx = self.begin().await?;
        let leases = self.lock_leases(&tx).await?;
        let highest = leases.iter().map(|lease| lease.epoch).max().unwrap_or(0);
        let text = "UPDATE shard_lease SET epoch = ?, expires_at = 0";
        self.execute(&tx, text, values![highest + RESYNC_STEP]).await?;
        self.loops().forget_grants(&tx, RESYNC_STEP).await?;
        self.remember_restored(&tx).await?;
        for (name, by) in [("run", RESYNC_STEP), ("delayed", RESYNC_STEP), ("row", RESYNC_STEP), ("job", 10_000)] {
            let text = "UPDATE id_block SET next = next + ? WHERE name = ?";
            self.execute(&tx, text, values![by, name]).await?;
        }
        let detail = json!({"after": {"epoch": highest + RESYNC_STEP}});
        let entry =
            AuditEntry::new(actor, now, AuditAction::Resync, AuditObject::new(AuditObjectKind::Shards, 0), detail);
        self.audit().insert(&tx, vec![entry], &[audit_id + RESYNC_STEP]).await?;
        tx.commit().await?;
        Ok(leases.len())
    }

    /// The runs that are there may have been sent in the time that is lost: a report about one is evidence, although it
    /// looks as if it was never sent.
    async fn remember_restored(self, tx: &Transaction) -> Result<()> {
        let text = "SELECT next FROM id_block WHERE name = 'run'";
        let below: Option<i64> = self.tuple(tx, text, vec![]).await?;
        let below = below.unwrap_or(0).to_string();
        let text = "UPDATE setting SET value = ? WHERE name = ?";
        let values = values![below.as_str(), RESTORED_BELOW];
        if self.execute(tx, text, values).await? == 0 {
            let row = values![RESTORED_BELOW, below];
            self.insert_rows(tx, "setting", "name, value", vec![row]).await?;
        }
        Ok(())
    }
}

/// The setting that `resync` writes.
pub(crate) const RESTORED_BELOW: &str = "restored_below";

/// Further than a cluster comes between two backups.
const RESYNC_STEP: i64 = 1_000_000;
