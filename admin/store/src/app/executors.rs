//! Executors: who has registered for which app, and until when that counts. An address that a person entered is a row as well,
//! whose lease never ends; a registration at that address adds what the executor says of itself.

use carillon_scheduler::route::DEFAULT_WEIGHT;
use carillon_scheduler::{Labels, Millis};
use sea_orm::{ConnectionTrait, FromQueryResult, Value};

use crate::error::Result;
use crate::people::grants::VisibleApps;
use crate::views::AppStore;

/// When the lease of an address ends that a person entered: with the year 9999.
pub(super) const NEVER: Millis = 253_402_300_799_000;

/// Weight and labels, as far as they are given.
#[derive(Clone, Debug, Default, PartialEq, Eq, FromQueryResult)]
pub struct ExecutorSettings {
    pub weight: Option<i32>,
    pub labels: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, FromQueryResult)]
pub struct Executor {
    /// The name it registered under; there need not be such an app yet.
    pub app: String,
    /// Exactly as registered: it is the executor's identity.
    pub address: String,
    /// Present with our own SDK only: new at each start.
    pub boot_id: Option<String>,
    pub capabilities: Option<String>,
    /// Random, kept in its journal: which runs it remembers is known by it, across its starts.
    pub journal_id: Option<String>,
    /// The token of its app that it presented; None: the token of all apps.
    pub token_id: Option<i64>,
    pub registered_at: Millis,
    pub seen_at: Millis,
    pub expires_at: Millis,
    /// What it says of itself.
    #[sea_orm(nested)]
    pub announced: ExecutorSettings,
    /// What an operator has set: it wins.
    #[sea_orm(nested(prefix = "set_"))]
    pub set: ExecutorSettings,
    /// When a person entered its address; None: it is there because it registers.
    pub manual_since: Option<Millis>,
    /// Since when it gets no new runs.
    pub draining_since: Option<Millis>,
}

impl Executor {
    pub fn is_live(&self, now: Millis) -> bool {
        self.expires_at > now
    }

    /// A draining executor gets no new runs.
    pub fn is_draining(&self) -> bool {
        self.draining_since.is_some()
    }

    /// Whether it has announced a capability.
    pub fn has(&self, capability: &str) -> bool {
        let announced = self.capabilities.as_deref().unwrap_or_default();
        announced.split(',').any(|word| word.trim() == capability)
    }

    /// Its share of a weighted route.
    pub fn weight(&self) -> u32 {
        let weight = self.set.weight.or(self.announced.weight);
        weight.and_then(|weight| u32::try_from(weight).ok()).unwrap_or(DEFAULT_WEIGHT)
    }

    /// What routes look for; none if the text was changed by hand into nonsense.
    pub fn labels(&self) -> Labels {
        let text = self.set.labels.as_ref().or(self.announced.labels.as_ref());
        text.and_then(|text| text.parse().ok()).unwrap_or_default()
    }
}

/// With what an operator has set.
const FROM: &str = "SELECT e.app, e.address, e.boot_id, e.capabilities, e.journal_id, e.token_id, e.registered_at, e.seen_at, e.expires_at, e.weight, e.labels, \
     e.manual_since, s.weight AS set_weight, s.labels AS set_labels, s.draining_since FROM executor e LEFT JOIN executor_setting s ON s.app = e.app AND s.address = e.address";

impl AppStore<'_> {
    /// A heartbeat: a new row or a longer lease. True if the executor was not there, was over, has restarted, says
    /// other things of itself, or has another token.
    pub async fn register_executor(self, executor: &Executor) -> Result<bool> {
        let tx = self.begin_change().await?;
        // Each column by its name: PostgreSQL refuses a kept statement whose `*` has got another column.
        let text = "SELECT app, address, boot_id, capabilities, journal_id, token_id, registered_at, seen_at, expires_at, weight, labels, manual_since, \
                    NULL AS set_weight, NULL AS set_labels, NULL AS draining_since FROM executor WHERE app = ? AND address = ?{for_update}";
        let key = values![executor.app.as_str(), executor.address.as_str()];
        let old: Option<Executor> = self.one(&tx, text, key).await?;
        let changed = old.as_ref().is_none_or(|old| !old.is_live(executor.seen_at) || old.boot_id != executor.boot_id);
        let has_changed_settings =
            old.as_ref().is_some_and(|old| old.announced != executor.announced || old.token_id != executor.token_id);
        let registered_at =
            if changed { executor.registered_at } else { old.as_ref().map_or(0, |old| old.registered_at) };
        let is_manual = old.as_ref().is_some_and(|old| old.manual_since.is_some());
        let expires_at = if is_manual { NEVER } else { executor.expires_at };
        let Executor { app, address, boot_id, capabilities, journal_id, token_id, seen_at, .. } = executor.clone();
        let ExecutorSettings { weight, labels } = executor.announced.clone();
        let set =
            named![boot_id, capabilities, journal_id, registered_at, seen_at, expires_at, weight, labels, token_id];
        let written = match old {
            Some(_) => {
                let key = (" WHERE app = ? AND address = ?", values![app, address]);
                // Another start of the executor may be of another build.
                let forgotten = changed.then(|| ("declared", Value::from(None::<String>)));
                self.update_columns(&tx, "executor", set.into_iter().chain(forgotten), key).await.map(drop)
            }
            None => self.insert_row(&tx, "executor", set.into_iter().chain(named![app, address])).await,
        };
        match written {
            // Its first two heartbeats at once: the other one has made the row.
            Err(error) if error.is_unique_violation() => Ok(false),
            other => {
                other?;
                tx.commit().await?;
                Ok(changed || has_changed_settings)
            }
        }
    }

    /// The end of a registration. An address that a person entered stays.
    pub async fn deregister_executor(self, app: &str, address: &str) -> Result<bool> {
        self.end_registrations(&self.changes, "app = ? AND address = ?", values![app, address]).await
    }

    /// The same of one start of the executor: a later start at its address stays, even if the request of an earlier one is repeated.
    pub async fn deregister_start(self, app: &str, address: &str, boot_id: &str) -> Result<bool> {
        let condition = "app = ? AND address = ? AND boot_id = ?";
        self.end_registrations(&self.changes, condition, values![app, address, boot_id]).await
    }

    /// Ends the registrations that meet a condition; of addresses that a person entered, what the executors said is forgotten.
    pub(super) async fn end_registrations(
        self,
        tx: &impl ConnectionTrait,
        condition: &str,
        values: Vec<Value>,
    ) -> Result<bool> {
        let text = format!("DELETE FROM executor WHERE manual_since IS NULL AND {condition}");
        let ended = self.execute(tx, &text, values.clone()).await?;
        let text = format!(
            "UPDATE executor SET boot_id = NULL, capabilities = NULL, journal_id = NULL, weight = NULL, labels = NULL, declared = NULL, \
             token_id = NULL WHERE manual_since IS NOT NULL AND {condition}"
        );
        Ok(self.execute(tx, &text, values).await? + ended > 0)
    }

    /// The live executors of the same app beside one. All names that no app has count as one app.
    pub async fn live_executors_beside(self, app: &str, address: &str, now: Millis) -> Result<i64> {
        let own = "SELECT COUNT(*) FROM executor WHERE app = ? AND address <> ? AND expires_at > ?";
        let without_app = "SELECT COUNT(*) FROM executor AS e WHERE e.address <> ? AND e.expires_at > ? \
             AND NOT EXISTS (SELECT 1 FROM app WHERE app.name = e.app)";
        let count: Option<i64> = match self.by_name(app).await? {
            Some(_) => self.tuple(&self.engine_reads, own, values![app, address, now]).await?,
            None => self.tuple(&self.engine_reads, without_app, values![address, now]).await?,
        };
        Ok(count.unwrap_or(0))
    }

    /// All registrations, live or not, by app and address.
    pub async fn executors(self) -> Result<Vec<Executor>> {
        let text = format!("{FROM} ORDER BY e.app, e.address");
        self.all(&self.engine_reads, &text, vec![]).await
    }

    /// The same of the visible apps. Names that no app has are for who sees all.
    pub async fn visible_executors(self, visible: &VisibleApps) -> Result<Vec<Executor>> {
        let condition = match visible.is_all() {
            true => String::new(),
            false => format!(" WHERE e.app IN (SELECT name FROM app WHERE {})", visible.condition("id")),
        };
        self.all(&self.read, &format!("{FROM}{condition} ORDER BY e.app, e.address"), vec![]).await
    }

    /// The same of one app.
    pub async fn executors_of(self, app: &str) -> Result<Vec<Executor>> {
        let text = format!("{FROM} WHERE e.app = ? ORDER BY e.address");
        self.all(&self.read, &text, values![app]).await
    }

    /// The clock went back to `now`: a lease counts from then at the latest, not from a moment that is still to come.
    pub async fn seen_at_the_latest(self, now: Millis) -> Result<()> {
        // MySQL assigns from left to right, the others from the old row: `seen_at` comes last.
        let text = "UPDATE executor SET expires_at = ? + (expires_at - seen_at), seen_at = ? WHERE seen_at > ? AND manual_since IS NULL";
        let values = values![now, now, now];
        self.execute(&self.write, text, values).await.map(drop)
    }

    /// Rows that have been silent since `before` are history.
    pub async fn forget_executors(self, before: Millis) -> Result<u64> {
        self.execute(&self.write, "DELETE FROM executor WHERE expires_at < ?", values![before]).await
    }
}
