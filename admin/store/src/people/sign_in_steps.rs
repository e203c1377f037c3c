//! Sign-ins that have begun: the password was right and a code is awaited. And those that the OpenID provider has confirmed, until their time
//! is over. Each counts once and for some minutes, on all nodes.

use carillon_scheduler::words;

use crate::error::Result;
use crate::people::source_network::source_network;
use crate::views::PeopleStore;

/// Steps of one source and kind at once: this bounds the rows.
const MAX_OF_SOURCE: i64 = 1_000;

words! {
    /// What a step waits for.
    pub enum StepKind: "kind of step" {
        /// A code, after the password.
        Code = 0 "code",
        /// Nothing: the OpenID provider has confirmed it, and it does not count again.
        Provider = 1 "provider",
    }
}

/// A step to be stored.
pub struct NewStep<'a> {
    /// The hash of secrets that the browser holds and sends back.
    pub id_hash: &'a str,
    pub kind: StepKind,
    /// What the next step needs, as JSON.
    pub detail: &'a str,
    /// The address of the client, or another name of who begins it: the steps of each are counted apart.
    pub source: &'a str,
    pub expires_at: i64,
}

impl PeopleStore<'_> {
    /// Stores a step, and deletes those that have expired. If the source already has a thousand steps of this kind, the oldest
    /// one is deleted too: a new step is never refused.
    pub async fn begin_step(self, new: &NewStep<'_>, now: i64) -> Result<()> {
        let source: String = source_network(new.source).chars().take(64).collect();
        let text = "SELECT id_hash FROM sign_in_step WHERE source = ? AND kind = ? AND expires_at > ? \
                    ORDER BY expires_at DESC, id_hash LIMIT 1 OFFSET ?";
        let values = values![source.as_str(), new.kind.as_str(), now, MAX_OF_SOURCE - 1];
        let oldest: Option<String> = self.tuple(&self.read, text, values).await?;
        if let Some(oldest) = oldest {
            self.end_step(&oldest).await?;
        }
        self.execute(&self.changes, "DELETE FROM sign_in_step WHERE expires_at <= ?", values![now]).await?;
        let NewStep { id_hash, detail, expires_at, .. } = *new;
        let row = named![id_hash, kind: new.kind.as_str(), detail, source, expires_at];
        self.insert_row(&self.changes, "sign_in_step", row).await
    }

    /// Stores a step that is used up. False: another request was faster.
    pub async fn use_step(self, used: &NewStep<'_>, now: i64) -> Result<bool> {
        match self.begin_step(used, now).await {
            Err(error) if error.is_unique_violation() => Ok(false),
            done => done.map(|()| true),
        }
    }

    /// What a step holds, while it is valid.
    pub async fn sign_in_step(self, id_hash: &str, kind: StepKind, now: i64) -> Result<Option<String>> {
        let text = "SELECT detail FROM sign_in_step WHERE id_hash = ? AND kind = ? AND expires_at > ?";
        self.tuple(&self.read, text, values![id_hash, kind.as_str(), now]).await
    }

    /// Uses a step up. False: another request was faster.
    pub async fn end_step(self, id_hash: &str) -> Result<bool> {
        Ok(self.execute(&self.changes, "DELETE FROM sign_in_step WHERE id_hash = ?", values![id_hash]).await? > 0)
    }
}
