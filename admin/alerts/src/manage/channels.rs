use carillon_accounts::policy::{self, Action, Object};
use carillon_engine::manage::{Error, require};
use carillon_scheduler::{FieldError, Millis};
use carillon_store::Actor;
use carillon_store::alert::channels::ChannelRow;
use serde::{Deserialize, Serialize};

use crate::channel::{Channel, ChannelKind, Secrets, Settings, check};
use crate::manage::entry_points::Alerts;
use crate::message::Message;

/// A channel as a person or a program writes it. Secrets that are not given stay as they are.
#[derive(Clone, Debug)]
pub struct ChannelDraft {
    pub name: String,
    pub kind: ChannelKind,
    pub settings: Settings,
    pub secrets: Secrets,
}

/// A channel without its secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChannelView {
    pub id: i64,
    pub name: String,
    pub kind: String,
    pub settings: Settings,
    /// The names of the secrets that are set; None: this node cannot decrypt them.
    pub secrets: Option<Vec<String>>,
    pub revision: i64,
    pub updated_at: Millis,
}

impl Alerts {
    /// # Errors
    /// Those of the database.
    pub async fn channels(&self, by: &Actor) -> Result<Vec<ChannelView>, Error> {
        let rows = self.store().alert_channels().await?;
        Ok(rows.iter().map(|row| self.view(row, by)).collect())
    }

    /// # Errors
    /// `Missing`
    pub async fn channel(&self, id: i64, by: &Actor) -> Result<ChannelView, Error> {
        Ok(self.view(&self.row(id).await?, by))
    }

    /// # Errors
    /// `Forbidden`, `Invalid`, `Taken`
    pub async fn create_channel(&self, draft: ChannelDraft, by: &Actor) -> Result<ChannelView, Error> {
        must_administer(by)?;
        let id = self.store().next_channel_id().await?;
        let row = self.sealed(id, 1, draft)?;
        self.store().create_alert_channel(&row, self.now(), by).await?;
        self.channel(id, by).await
    }

    /// `expected`: the revision that the caller has read.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`, `Invalid`, `Changed`, `Taken`
    pub async fn update_channel(
        &self,
        id: i64,
        draft: ChannelDraft,
        expected: Option<i64>,
        by: &Actor,
    ) -> Result<ChannelView, Error> {
        must_administer(by)?;
        let old = self.row(id).await?;
        if old.kind != draft.kind.as_str() {
            return Err(invalid("kind", "a channel keeps its kind; create another one"));
        }
        let kept = match Channel::from_row(&old, &self.keys) {
            Ok(channel) => channel.secrets,
            // All of them are given anew then.
            Err(_) => Secrets::default(),
        };
        let secrets = draft.secrets.over(kept);
        let row = self.sealed(id, expected.unwrap_or(old.revision), ChannelDraft { secrets, ..draft })?;
        self.store().update_alert_channel(&row, self.now(), by).await?;
        self.channel(id, by).await
    }

    /// # Errors
    /// `Forbidden`, `Missing`; `InUse`, with a rule that names it
    pub async fn delete_channel(&self, id: i64, by: &Actor) -> Result<(), Error> {
        must_administer(by)?;
        Ok(self.store().delete_alert_channel(id, self.now(), by).await?)
    }

    /// Sends a message that says that it is a test; answers the delivery's id.
    ///
    /// # Errors
    /// `Forbidden`, `Missing`
    pub async fn test_channel(&self, id: i64, by: &Actor) -> Result<i64, Error> {
        must_administer(by)?;
        let channel = self.row(id).await?;
        let now = self.now();
        let message = serde_json::to_string(&Message::test(&channel.name, now)).unwrap_or_default();
        let delivery = self.store().add_test_delivery(id, &message, now, by).await?;
        self.sends.notify_one();
        Ok(delivery)
    }

    async fn row(&self, id: i64) -> Result<ChannelRow, Error> {
        self.store().alert_channel(id).await?.ok_or_else(|| Error::Missing(format!("alert channel {id}")))
    }

    /// The settings name hosts and people: they are for administrators.
    fn view(&self, row: &ChannelRow, by: &Actor) -> ChannelView {
        let may_see = policy::may(by, Action::Administer, Object::Installation);
        let secrets = Channel::from_row(row, &self.keys).ok().map(|channel| channel.secrets.names());
        ChannelView {
            id: row.id,
            name: row.name.clone(),
            kind: row.kind.clone(),
            settings: serde_json::from_str(&row.settings).ok().filter(|_| may_see).unwrap_or_default(),
            secrets: secrets.map(|names| names.into_iter().map(str::to_owned).collect()),
            revision: row.revision,
            updated_at: row.updated_at,
        }
    }

    /// The channel as it is stored.
    fn sealed(&self, id: i64, revision: i64, draft: ChannelDraft) -> Result<ChannelRow, Error> {
        let ChannelDraft { name, kind, settings, secrets } = draft;
        let name = name.trim().to_owned();
        let channel = Channel { kind, settings, secrets: secrets.over(Secrets::default()) };
        let mut errors = check(&channel);
        if !(1..=64).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            errors.insert(0, FieldError::new("name", "write 1 to 64 characters"));
        }
        if !errors.is_empty() {
            return Err(Error::Invalid(errors));
        }
        let sealed = match channel.secrets.is_empty() {
            true => None,
            false => {
                let text = serde_json::to_string(&channel.secrets).unwrap_or_default();
                let sealed = self.keys.seal(&crate::channel::context(id), &text);
                let first = channel.secrets.names().first().copied().unwrap_or("secrets");
                Some(sealed.map_err(|error| invalid(first, &error.to_string()))?)
            }
        };
        let settings = serde_json::to_string(&channel.settings).unwrap_or_default();
        Ok(ChannelRow { id, name, kind: kind.to_string(), settings, sealed, revision, updated_at: 0 })
    }
}

fn invalid(field: &str, message: &str) -> Error {
    Error::Invalid(vec![FieldError::new(field, message)])
}

fn must_administer(by: &Actor) -> Result<(), Error> {
    require(by, Action::Administer, Object::Installation, String::new)
}
