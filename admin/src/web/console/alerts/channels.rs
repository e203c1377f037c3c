//! Channels: the list, the form of each kind, and the test.

use actix_web::web::{Path, Query};
use askama::Template;
use carillon_alerts::channel::{ChannelKind, Secrets, Settings, Tls};
use carillon_alerts::manage::{ChannelDraft, ChannelView, PER_HOUR};
use carillon_engine::manage::Error;
use carillon_scheduler::UnknownWord;
use carillon_store::App;
use carillon_store::alert::deliveries::DeliveryFilter;
use serde::Deserialize;

use crate::web::access::Caller;
use crate::web::console::alerts::message_line::{DeliveryLine, lines};
use crate::web::console::alerts::rules::accept;
use crate::web::forms::Form;
use crate::web::page::{PageContext, PageError, PageResult, done, refused, render, show};
use crate::web::state::{Shared, State};

#[derive(Template)]
#[template(path = "alerts/channels.html")]
struct ListPage {
    context: PageContext,
    channels: Vec<ChannelView>,
}

impl ListPage {
    fn kind(&self, channel: &ChannelView) -> &'static str {
        channel.kind.title()
    }

    fn apps(&self, channel: &ChannelView) -> String {
        match (channel.all_apps, channel.apps.is_empty()) {
            (true, _) => self.context.t("of-all-apps").to_string(),
            (_, true) => self.context.t("none").to_string(),
            _ => channel.apps.join(", "),
        }
    }

    /// The words of the kinds, and the keys of their names.
    fn kinds(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        ChannelKind::ALL.iter().map(|kind| (kind.as_str(), kind.title()))
    }
}

/// The fields and the keys of their labels, in the order of the page.
pub const LABELS: &[(&str, &str)] = &[
    ("name", "name"),
    ("kind", "channel-kind"),
    ("host", "channel-host"),
    ("port", "channel-port"),
    ("tls", "channel-encryption"),
    ("ca", "channel-authority"),
    ("user", "channel-user"),
    ("password", "password"),
    ("from", "channel-from"),
    ("to", "channel-to"),
    ("url", "channel-url"),
    ("secret", "channel-secret"),
    ("secrets", "channel-secrets"),
    ("routing_key", "channel-integration-key"),
    ("template", "channel-body"),
    ("all_apps", "channel-apps"),
    ("apps", "channel-apps"),
    ("language", "channel-language"),
    ("zone", "channel-zone"),
    ("per_hour", "channel-per-hour"),
];

#[derive(Template)]
#[template(path = "alerts/channel.html")]
struct FormPage {
    context: PageContext,
    form: Form,
    kind: ChannelKind,
    /// Those that may be chosen.
    apps: Vec<App>,
    /// None: a new one.
    channel: Option<ChannelView>,
    messages: Vec<DeliveryLine>,
}

impl FormPage {
    fn action(&self) -> String {
        self.channel.as_ref().map_or_else(|| "/alerts/channels".to_owned(), |it| format!("/alerts/channels/{}", it.id))
    }

    fn is_moving(&self) -> bool {
        self.messages.iter().any(DeliveryLine::is_pending)
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.as_str() == kind
    }

    fn kind_title(&self) -> &'static str {
        self.kind.title()
    }

    /// The key of a field's label.
    fn label(&self, name: &str) -> &'static str {
        LABELS.iter().find(|(field, _)| *field == name).map_or("", |(_, label)| label)
    }

    fn may_sign(&self) -> bool {
        self.kind.may_sign()
    }

    /// What the field of a secret says when it is empty.
    fn placeholder(&self, name: &str) -> String {
        let set = self.channel.as_ref().and_then(|channel| channel.secrets.as_ref());
        let is_set = set.is_some_and(|set| set.iter().any(|it| it == name));
        if is_set { self.context.t("channel-secret-unchanged").to_string() } else { String::new() }
    }
}

/// `GET /alerts/channels`
pub async fn list(state: Shared, context: PageContext) -> PageResult {
    let channels = state.alerts.channels(&context.actor).await?;
    Ok(show(&ListPage { context, channels }))
}

#[derive(Deserialize)]
pub struct NewQuery {
    #[serde(default)]
    kind: String,
}

/// `GET /alerts/channels/new?kind=`
pub async fn new(state: Shared, context: PageContext, query: Query<NewQuery>) -> PageResult {
    let kind = if query.kind.is_empty() { ChannelKind::Email } else { kind_of(&query.kind)? };
    let usual = ChannelDraft::new("", kind);
    let form = Form::default()
        .with("kind", kind.as_str())
        .with("language", context.language.code())
        .with("zone", context.zone.name())
        .with("per_hour", usual.per_hour.to_string());
    form_page(&state, context, (kind, None), form).await
}

/// `POST /alerts/channels`
pub async fn create(state: Shared, by: Caller, context: PageContext, form: Form) -> PageResult {
    let kind = kind_of(form.value("kind"))?;
    save(&state, by, context, (kind, None), form).await
}

fn kind_of(word: &str) -> Result<ChannelKind, PageError> {
    word.parse().map_err(|error: UnknownWord| PageError::Bad(error.to_string()))
}

/// `GET /alerts/channels/{id}`
pub async fn edit(state: Shared, context: PageContext, id: Path<i64>) -> PageResult {
    let channel = state.alerts.channel(*id, &context.actor).await?;
    let form = filled(&channel);
    form_page(&state, context, (channel.kind, Some(channel)), form).await
}

/// `POST /alerts/channels/{id}`
pub async fn update(state: Shared, by: Caller, context: PageContext, id: Path<i64>, form: Form) -> PageResult {
    let channel = state.alerts.channel(*id, &by.0).await?;
    save(&state, by, context, (channel.kind, Some(channel)), form).await
}

/// `channel`: the one that is changed; None: a new one.
async fn save(
    state: &State,
    by: Caller,
    context: PageContext,
    (kind, channel): (ChannelKind, Option<ChannelView>),
    mut form: Form,
) -> PageResult {
    let draft = draft(&mut form, kind);
    if form.is_valid() {
        let (text, saved) = match &channel {
            None => ("channel-created", state.alerts.create_channel(draft, &by.0).await),
            Some(channel) => {
                let revision = form.value("revision").parse().ok();
                ("channel-saved", state.alerts.update_channel(channel.id, draft, revision, &by.0).await)
            }
        };
        if let Some(saved) = accept(&mut form, saved)? {
            return Ok(done(&format!("/alerts/channels/{}", saved.id), context.t(text).with("name", &saved.name)));
        }
    }
    form_page(state, context, (kind, channel), form).await
}

/// `POST /alerts/channels/{id}/test`
pub async fn test(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    state.alerts.test_channel(*id, &by.0).await?;
    Ok(done(&format!("/alerts/channels/{id}"), context.t("channel-test-sent")))
}

/// `POST /alerts/channels/{id}/delete`
pub async fn delete(state: Shared, by: Caller, context: PageContext, id: Path<i64>) -> PageResult {
    match state.alerts.delete_channel(*id, &by.0).await {
        Ok(()) => Ok(done("/alerts/channels", context.t("channel-deleted"))),
        Err(Error::InUse(why)) => Ok(refused(&format!("/alerts/channels/{id}"), &why)),
        Err(error) => Err(error.into()),
    }
}

async fn form_page(
    state: &State,
    context: PageContext,
    (kind, channel): (ChannelKind, Option<ChannelView>),
    mut form: Form,
) -> PageResult {
    form.sort_errors(LABELS);
    let messages = match &channel {
        Some(channel) => {
            let filter = DeliveryFilter { channel_id: Some(channel.id), limit: 20, ..DeliveryFilter::default() };
            lines(&context, state.store.alerts().deliveries(&filter).await?.items)
        }
        None => vec![],
    };
    let status = form.status();
    let apps = state.store.apps().list(&context.visible()).await?;
    Ok(render(&FormPage { context, form, kind, apps, channel, messages }, status))
}

fn filled(channel: &ChannelView) -> Form {
    let it = &channel.settings;
    let tls = match it.tls {
        None | Some(Tls::Starttls) => "starttls",
        Some(Tls::Tls) => "tls",
        Some(Tls::None) => "none",
    };
    Form::default()
        .with("name", &channel.name)
        .with("kind", channel.kind.as_str())
        .with("host", &it.host)
        .with("port", it.port.map_or_else(String::new, |port| port.to_string()))
        .with("tls", tls)
        .with("ca", &it.ca)
        .with("user", &it.user)
        .with("from", &it.from)
        .with("to", it.to.join("\n"))
        .with("url", &it.url)
        .with("template", &it.template)
        .with("all_apps", if channel.all_apps { "yes" } else { "" })
        .with("apps", channel.apps.join("\n"))
        .with("language", &channel.language)
        .with("zone", &channel.zone)
        .with("per_hour", channel.per_hour.to_string())
        .with("revision", channel.revision.to_string())
}

fn draft(form: &mut Form, kind: ChannelKind) -> ChannelDraft {
    let is_mail = kind == ChannelKind::Email;
    let port: u16 = form.number("port", 0);
    let per_hour: i64 = form.number("per_hour", PER_HOUR);
    let tls = match form.value("tls") {
        "tls" => Tls::Tls,
        "none" => Tls::None,
        _ => Tls::Starttls,
    };
    let text = |name: &str| form.value(name).trim().to_owned();
    let lines = |name: &str| text(name).replace("\r\n", "\n");
    let secret = |name: &str| Some(text(name)).filter(|secret| !secret.is_empty());
    let to = form.value("to").split([',', '\n', ';']).map(str::trim).filter(|to| !to.is_empty()).map(str::to_owned);
    let settings = Settings {
        host: text("host"),
        port: Some(port).filter(|port| *port > 0),
        tls: is_mail.then_some(tls),
        ca: lines("ca"),
        user: text("user"),
        from: text("from"),
        to: to.collect(),
        url: if kind.has_secret_url() { String::new() } else { text("url") },
        template: lines("template"),
    };
    // Removing the user removes the password: the form has no other field for that.
    let is_without_user = is_mail && text("user").is_empty();
    let secrets = Secrets {
        url: if kind.has_secret_url() { secret("url") } else { None },
        secret: secret("secret"),
        password: secret("password").or_else(|| is_without_user.then(String::new)),
        routing_key: secret("routing_key"),
    };
    let usual = ChannelDraft::new(form.value("name"), kind);
    let or = |text: String, usual: String| if text.is_empty() { usual } else { text };
    ChannelDraft {
        settings,
        secrets,
        all_apps: form.is("all_apps", "yes"),
        apps: form.items("apps"),
        language: or(text("language"), usual.language),
        zone: or(text("zone"), usual.zone),
        per_hour,
        ..usual
    }
}
