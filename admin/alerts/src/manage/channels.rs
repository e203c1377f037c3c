use carillon_accounts::policy::{self, Action, Object};
use carillon_engine::manage::{Error, require};
use carillon_locale::Language;
use carillon_scheduler::{FieldError, Millis, Zone};
use carillon_store::alert::channels::ChannelRow;
use carillon_store::{Actor, App};
use serde::{Deserialize, Serialize};

use crate::channel::{Channel, ChannelKind, Secrets, Settings, check};
use crate::manage::entry_points::Alerts;
use crate::message::{Locale, Message};

/// A channel as a person or a program writes it. Secrets that are not given stay as they are.
#[derive(Clone, Debug)]
pub struct ChannelDraft {
    pub name: String,
    pub kind: ChannelKind,
    pub settings: Settings,
    pub secrets: Secrets,
    /// All apps may use it, and rules for all apps.
    pub all_apps: bool,
    /// The names of the apps that may use it.
    pub apps: Vec<String>,
    /// `en` or `zh`: the language of its messages.
    pub language: String,
    /// The time zone of its messages, such as `Asia/Shanghai`.
    pub zone: String,
    /// Messages that it gets in an hour; one more says how many were left out.
    pub per_hour: i64,
}

/// Messages of a channel in an hour, unless it says otherwise.
pub const PER_HOUR: i64 = 60;

impl ChannelDraft {
    /// A channel that no app may use yet.
    pub fn new(name: impl Into<String>, kind: ChannelKind) -> Self {
        Self {
            name: name.into(),
            kind,
            settings: Settings::default(),
            secrets: Secrets::default(),
            all_apps: false,
            apps: vec![],
            language: Language::default().code().to_owned(),
            zone: "UTC".to_owned(),
            per_hour: PER_HOUR,
        }
    }
}

/// A channel without its secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChannelView {
    pub id: i64,
    pub name: String,
    pub kind: ChannelKind,
    pub settings: Settings,
    /// The names of the secrets that are set; None: this node cannot decrypt them.
    pub secrets: Option<Vec<String>>,
    pub all_apps: bool,
    /// The names of the apps that may use it, as far as the viewer sees them.
    pub apps: Vec<String>,
    pub language: String,
    pub zone: String,
    pub per_hour: i64,
    pub revision: i64,
    pub updated_at: Millis,
}

impl Alerts {
    /// Those that an app of the viewer may use; all of them for administrators of all apps.
    pub async fn channels(&self, by: &Actor) -> Result<Vec<ChannelView>, Error> {
        let apps = self.store().apps().list(&by.grants.visible_apps()).await?;
        let rows = self.store().alerts().channels().await?;
        Ok(rows.iter().filter(|row| is_visible(row, &apps, by)).filter_map(|row| self.view(row, &apps, by)).collect())
    }

    /// # Errors
    /// `Missing`, also if no app of the viewer may use it
    pub async fn channel(&self, id: i64, by: &Actor) -> Result<ChannelView, Error> {
        let (row, apps) = (self.row(id).await?, self.store().apps().list(&by.grants.visible_apps()).await?);
        let view = is_visible(&row, &apps, by).then(|| self.view(&row, &apps, by)).flatten();
        view.ok_or_else(|| Error::Missing(format!("alert channel {id}")))
    }

    /// # Errors
    /// `Forbidden`, `Invalid`, `Taken`
    pub async fn create_channel(&self, draft: ChannelDraft, by: &Actor) -> Result<ChannelView, Error> {
        must_administer(by)?;
        let id = self.store().alerts().next_channel_id().await?;
        let row = self.encrypted_row(id, 1, draft).await?;
        self.store().alerts().create_channel(&row, self.now(), by).await?;
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
            // The change must hold all of them then.
            Err(_) => Secrets::default(),
        };
        let secrets = draft.secrets.merged_over(kept);
        let row = self.encrypted_row(id, expected.unwrap_or(old.revision), ChannelDraft { secrets, ..draft }).await?;
        self.store().alerts().update_channel(&row, self.now(), by).await?;
        self.channel(id, by).await
    }

    /// # Errors
    /// `Forbidden`, `Missing`; `InUse`, with a rule that names it
    pub async fn delete_channel(&self, id: i64, by: &Actor) -> Result<(), Error> {
        must_administer(by)?;
        Ok(self.store().alerts().delete_channel(id, self.now(), by).await?)
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
        let delivery = self.store().alerts().add_test_delivery(id, &message, now, by).await?;
        self.sends.notify_one();
        Ok(delivery)
    }

    async fn row(&self, id: i64) -> Result<ChannelRow, Error> {
        self.store().alerts().channel(id).await?.ok_or_else(|| Error::Missing(format!("alert channel {id}")))
    }

    /// The settings name hosts and people: they are for administrators. None: the kind is one of a newer version.
    fn view(&self, row: &ChannelRow, apps: &[App], by: &Actor) -> Option<ChannelView> {
        let may_see = administers(by);
        let named = apps.iter().filter(|app| row.apps.iter().flatten().any(|id| *id == app.id));
        let secrets = Channel::from_row(row, &self.keys).ok().map(|channel| channel.secrets.names());
        Some(ChannelView {
            id: row.id,
            name: row.name.clone(),
            kind: row.kind.parse().ok()?,
            settings: serde_json::from_str(&row.settings).ok().filter(|_| may_see).unwrap_or_default(),
            secrets: secrets.map(|names| names.into_iter().map(str::to_owned).collect()),
            all_apps: row.apps.is_none(),
            apps: named.map(|app| app.name.clone()).collect(),
            language: row.language.clone(),
            zone: row.zone.clone(),
            per_hour: row.per_hour,
            revision: row.revision,
            updated_at: row.updated_at,
        })
    }

    /// The channel as it is stored.
    async fn encrypted_row(&self, id: i64, revision: i64, draft: ChannelDraft) -> Result<ChannelRow, Error> {
        let (mut errors, apps) = self.checked_use(&draft).await?;
        let ChannelDraft { name, kind, settings, secrets, language, zone, per_hour, .. } = draft;
        let name = name.trim().to_owned();
        let channel =
            Channel { kind, settings, secrets: secrets.merged_over(Secrets::default()), locale: Locale::default() };
        errors.extend(check(&channel, self.plain));
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
        let kind = kind.to_string();
        Ok(ChannelRow { id, name, kind, settings, sealed, apps, language, zone, per_hour, revision, updated_at: 0 })
    }

    /// What is wrong with the apps, the language, the zone and the limit; and the ids of the apps.
    async fn checked_use(&self, draft: &ChannelDraft) -> Result<(Vec<FieldError>, Option<Vec<i64>>), Error> {
        let mut errors = vec![];
        let mut apps = vec![];
        for name in &draft.apps {
            match self.store().apps().by_name(name).await? {
                Some(app) => apps.push(app.id),
                None => errors.push(FieldError::new("apps", format!("there is no app {name:?}"))),
            }
        }
        if draft.all_apps && !apps.is_empty() {
            errors.push(FieldError::new("apps", "name apps, or choose all of them"));
        }
        if Language::from_code(&draft.language).is_none() {
            let allowed = Language::ALL.map(Language::code).join(", ");
            let message = format!("`{:.16}` is not a language of messages; allowed: {allowed}", draft.language);
            errors.push(FieldError::new("language", message));
        }
        if draft.zone.parse::<Zone>().is_err() {
            let message = format!("`{:.64}` is not a time zone; write a name such as Europe/Berlin or UTC", draft.zone);
            errors.push(FieldError::new("zone", message));
        }
        if !(1..=10_000).contains(&draft.per_hour) {
            errors.push(FieldError::new("per_hour", "write a number from 1 to 10000"));
        }
        Ok((errors, (!draft.all_apps).then_some(apps)))
    }
}

/// Whether the viewer, who sees these apps, may know of the channel.
fn is_visible(row: &ChannelRow, apps: &[App], by: &Actor) -> bool {
    administers(by) || row.apps.is_none() || apps.iter().any(|app| row.is_for(Some(app.id)))
}

pub(super) fn administers(by: &Actor) -> bool {
    policy::may(by, Action::Administer, Object::Installation)
}

pub(super) fn invalid(field: &str, message: &str) -> Error {
    Error::Invalid(vec![FieldError::new(field, message)])
}

fn must_administer(by: &Actor) -> Result<(), Error> {
    require(by, Action::Administer, Object::Installation, String::new)
}
