//! Executors: who has registered for which app, and until when that counts.

use carillon_scheduler::route::DEFAULT_WEIGHT;
use carillon_scheduler::{Labels, Millis};
use sea_orm::{QueryResult, Value};

use crate::db::row::Columns;
use crate::{Result, Store};

/// Weight and labels, as far as somebody has said something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    pub weight: Option<i32>,
    pub labels: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub registered_at: Millis,
    pub seen_at: Millis,
    pub expires_at: Millis,
    /// What it says of itself.
    pub announced: Traits,
    /// What an operator has set: it wins.
    pub set: Traits,
}

impl Executor {
    pub fn is_live(&self, now: Millis) -> bool {
        self.expires_at > now
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

    /// What routes look for; none if somebody has written nonsense behind our back.
    pub fn labels(&self) -> Labels {
        let text = self.set.labels.as_ref().or(self.announced.labels.as_ref());
        text.and_then(|text| text.parse().ok()).unwrap_or_default()
    }
}

const COLUMNS: &str = "e.app, e.address, e.boot_id, e.capabilities, e.journal_id, e.registered_at, e.seen_at, e.expires_at, e.weight, e.labels";

/// With what an operator has set.
const FROM: &str = "SELECT e.app, e.address, e.boot_id, e.capabilities, e.journal_id, e.registered_at, e.seen_at, e.expires_at, e.weight, e.labels, \
     s.weight, s.labels FROM executor e LEFT JOIN executor_setting s ON s.app = e.app AND s.address = e.address";

impl Store {
    /// A heartbeat: a new row or a longer lease. True if the executor was not there, was over, has started anew, or
    /// says other things of itself.
    pub async fn register_executor(&self, executor: &Executor) -> Result<bool> {
        let tx = self.begin_change().await?;
        let key = vec![executor.app.as_str().into(), executor.address.as_str().into()];
        let text = format!(
            "SELECT {COLUMNS}, e.weight, e.labels FROM executor e WHERE e.app = ? AND e.address = ?{}",
            self.for_update()
        );
        let old = self.one(&tx, &text, key).await?.map(|row| read(&row)).transpose()?;
        let changed = old.as_ref().is_none_or(|old| !old.is_live(executor.seen_at) || old.boot_id != executor.boot_id);
        let told = old.as_ref().is_some_and(|old| old.announced != executor.announced);
        let registered_at =
            if changed { executor.registered_at } else { old.as_ref().map_or(0, |old| old.registered_at) };
        let rest: Vec<Value> = vec![
            executor.boot_id.clone().into(),
            executor.capabilities.clone().into(),
            executor.journal_id.clone().into(),
            registered_at.into(),
            executor.seen_at.into(),
            executor.expires_at.into(),
            executor.announced.weight.into(),
            executor.announced.labels.clone().into(),
            executor.app.as_str().into(),
            executor.address.as_str().into(),
        ];
        let text = match old {
            Some(_) => {
                "UPDATE executor SET boot_id=?, capabilities=?, journal_id=?, registered_at=?, seen_at=?, expires_at=?, weight=?, labels=? WHERE app=? AND address=?"
            }
            None => {
                "INSERT INTO executor (boot_id, capabilities, journal_id, registered_at, seen_at, expires_at, weight, labels, app, address) VALUES (?,?,?,?,?,?,?,?,?,?)"
            }
        };
        match self.execute(&tx, text, rest).await {
            // Its first two heartbeats at once: the other one has made the row.
            Err(error) if error.is_unique_violation() => Ok(false),
            other => {
                other?;
                tx.commit().await?;
                Ok(changed || told)
            }
        }
    }

    pub async fn deregister_executor(&self, app: &str, address: &str) -> Result<bool> {
        let text = "DELETE FROM executor WHERE app = ? AND address = ?";
        Ok(self.execute(&self.changes, text, vec![app.into(), address.into()]).await?.rows_affected() > 0)
    }

    /// All registrations, live or not, by app and address.
    pub async fn executors(&self) -> Result<Vec<Executor>> {
        let text = format!("{FROM} ORDER BY e.app, e.address");
        let rows = self.all(self.hot_reads(), &text, vec![]).await?;
        rows.iter().map(read).collect()
    }

    /// The same of one app.
    pub async fn executors_of(&self, app: &str) -> Result<Vec<Executor>> {
        let text = format!("{FROM} WHERE e.app = ? ORDER BY e.address");
        let rows = self.all(&self.read, &text, vec![app.into()]).await?;
        rows.iter().map(read).collect()
    }

    /// The clock went back to `now`: a lease counts from then at the latest, not from a moment that is still to come.
    pub async fn seen_at_the_latest(&self, now: Millis) -> Result<()> {
        // MySQL assigns from left to right, the others from the old row: `seen_at` comes last.
        let text = "UPDATE executor SET expires_at = ? + (expires_at - seen_at), seen_at = ? WHERE seen_at > ?";
        let values = vec![now.into(), now.into(), now.into()];
        self.execute(&self.write, text, values).await?;
        Ok(())
    }

    /// Rows that have been silent since `before` are history.
    pub async fn forget_executors(&self, before: Millis) -> Result<u64> {
        Ok(self
            .execute(&self.write, "DELETE FROM executor WHERE expires_at < ?", vec![before.into()])
            .await?
            .rows_affected())
    }
}

fn read(row: &QueryResult) -> Result<Executor> {
    let mut columns = Columns::of(row);
    Ok(Executor {
        app: columns.next()?,
        address: columns.next()?,
        boot_id: columns.next()?,
        capabilities: columns.next()?,
        journal_id: columns.next()?,
        registered_at: columns.next()?,
        seen_at: columns.next()?,
        expires_at: columns.next()?,
        announced: Traits { weight: columns.next()?, labels: columns.next()? },
        set: Traits { weight: columns.next()?, labels: columns.next()? },
    })
}
