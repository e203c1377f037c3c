//! The settings of a channel: those that its page shows, the secrets that are stored encrypted, and the rules of both.

use carillon_accounts::secret_keys::SecretKeys;
use carillon_scheduler::{FieldError, UnknownWord};
use carillon_store::alert::channels::ChannelRow;
use lettre::Address;
use serde::{Deserialize, Serialize};
use url::{Host, Position, Url};

use crate::channel::authority::is_authority;
use crate::channel::kind::ChannelKind;
use crate::channel::template;
use crate::message::Locale;

/// How the connection to a mail server is protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tls {
    /// Begun in the clear, then encrypted or given up; port 587.
    #[default]
    Starttls,
    /// From the first byte; port 465.
    Tls,
    /// Not at all: for a server on this machine or in a network of its own.
    None,
}

/// Each kind has some of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Mail server.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The only authority, as PEM, for the mail server's certificate; empty: the public ones.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ca: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub user: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub from: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// Of a webhook; of PagerDuty another one than usual.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// The body of a webhook.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub template: String,
}

#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Secrets {
    /// The address of a chat's robot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Signs the requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Of the mail server's user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Of a service of PagerDuty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing_key: Option<String>,
}

impl Secrets {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The names of those that are there.
    pub fn names(&self) -> Vec<&'static str> {
        let all = [
            ("url", &self.url),
            ("secret", &self.secret),
            ("password", &self.password),
            ("routing_key", &self.routing_key),
        ];
        all.into_iter().filter(|(_, value)| value.is_some()).map(|(name, _)| name).collect()
    }

    /// A text of the channel without them: a service that refuses a request may repeat a part of it. What stands in the path and the
    /// query of a URL counts as secret, too.
    pub fn hidden_in(&self, text: &str) -> String {
        let urls = self.url.iter().flat_map(|url| {
            let parsed = Url::parse(url).ok();
            let path = parsed.as_ref().map(|url| url[Position::BeforePath..].to_owned());
            let last = parsed.as_ref().and_then(|url| url.path_segments()?.next_back().map(str::to_owned));
            let query = parsed.as_ref().and_then(Url::query).unwrap_or_default();
            // The values as written in the URL, and percent-decoded.
            let raw = query.split('&').filter_map(|pair| Some(pair.split_once('=')?.1.to_owned()));
            let meant = url::form_urlencoded::parse(query.as_bytes()).map(|(_, value)| value.into_owned());
            let values: Vec<String> = raw.chain(meant).collect();
            [Some(url.clone()), path, last].into_iter().flatten().chain(values)
        });
        let others = [&self.secret, &self.password, &self.routing_key].into_iter().flatten().cloned();
        // A short word is no secret, and may be a part of any other.
        let words = urls.chain(others).filter(|word| word.len() >= 6);
        words.fold(text.to_owned(), |text, word| text.replace(&word, "***"))
    }

    /// Those that are given, and the old ones for the others. An empty one removes the old one.
    pub fn merged_over(self, old: Self) -> Self {
        let pick = |new: Option<String>, old: Option<String>| new.or(old).filter(|secret| !secret.is_empty());
        Self {
            url: pick(self.url, old.url),
            secret: pick(self.secret, old.secret),
            password: pick(self.password, old.password),
            routing_key: pick(self.routing_key, old.routing_key),
        }
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// A channel that can be used.
#[derive(Clone, Debug)]
pub struct Channel {
    pub kind: ChannelKind,
    pub settings: Settings,
    pub secrets: Secrets,
    /// Of those who read its messages.
    pub locale: Locale,
}

/// The place that a channel's secrets are encrypted for.
pub fn context(id: i64) -> String {
    format!("alert_channel {id}")
}

impl Channel {
    /// # Errors
    /// What is stored cannot be used; the text says what would help.
    pub fn from_row(row: &ChannelRow, keys: &SecretKeys) -> Result<Self, String> {
        let settings =
            serde_json::from_str(&row.settings).map_err(|error| format!("the settings cannot be read: {error}"))?;
        let secrets = match &row.sealed {
            None => Secrets::default(),
            Some(sealed) => {
                let opened = keys.open(&context(row.id), sealed);
                let text =
                    opened.ok_or("its secrets cannot be decrypted: no key of --secret-key-file has encrypted them")?;
                serde_json::from_str(&text).map_err(|_| "its secrets cannot be read".to_owned())?
            }
        };
        // A language or zone that this version does not know is no reason to lose a message.
        let locale = Locale::parse(&row.language, &row.zone).unwrap_or_default();
        let kind = row.kind.parse().map_err(|error: UnknownWord| error.to_string())?;
        Ok(Self { kind, settings, secrets, locale })
    }
}

/// Where a URL may begin with `http://`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainHttp {
    Anywhere,
    /// On this machine: the node itself listens on loopback.
    OnLoopback,
    Nowhere,
}

/// What is wrong with a channel. Members that its kind does not have are wrong too. `plain`: for kinds whose URL or body holds a secret.
pub fn check(channel: &Channel, plain: PlainHttp) -> Vec<FieldError> {
    let mut errors = Errors(vec![]);
    let (settings, secrets, kind) = (&channel.settings, &channel.secrets, channel.kind);
    let given = [
        ("host", !settings.host.is_empty()),
        ("port", settings.port.is_some()),
        ("tls", settings.tls.is_some()),
        ("ca", !settings.ca.is_empty()),
        ("user", !settings.user.is_empty()),
        ("from", !settings.from.is_empty()),
        ("to", !settings.to.is_empty()),
        ("template", !settings.template.is_empty()),
        ("password", secrets.password.is_some()),
        ("routing_key", secrets.routing_key.is_some()),
        ("secret", secrets.secret.is_some()),
        ("url", !settings.url.is_empty() || secrets.url.is_some()),
    ];
    for (name, _) in given.iter().filter(|(name, is_given)| *is_given && !kind.may_have(name)) {
        errors.add(name, format!("a channel of the kind {kind} has no `{name}`"));
    }
    match kind {
        ChannelKind::Email => errors.check_mail(settings, secrets),
        ChannelKind::Webhook => {
            errors.check_url(&settings.url, "http://, https://", PlainHttp::Anywhere);
            if let Err(why) = template::check(&settings.template) {
                errors.add("template", why);
            }
        }
        ChannelKind::Pagerduty => {
            if !settings.url.is_empty() {
                errors.check_url(&settings.url, "https://", plain);
            }
            if secrets.routing_key.is_none() {
                errors.add("routing_key", "write the integration key of the PagerDuty service (Events API v2)");
            }
        }
        ChannelKind::File => {}
        _ => errors.check_url(secrets.url.as_deref().unwrap_or_default(), "https://", plain),
    }
    errors.0
}

impl PlainHttp {
    fn allows(self, url: &Url) -> bool {
        let is_loopback = match url.host() {
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        self == Self::Anywhere || self == Self::OnLoopback && is_loopback
    }
}

struct Errors(Vec<FieldError>);

impl Errors {
    fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(FieldError::new(field, message));
    }

    fn check_url(&mut self, text: &str, schemes: &str, plain: PlainHttp) {
        let is_right = Url::parse(text).is_ok_and(|url| {
            (url.scheme() == "https" || url.scheme() == "http" && plain.allows(&url))
                && url.has_host()
                && url.username().is_empty()
                && url.password().is_none()
                && text.len() <= 2_000
        });
        if !is_right {
            self.add(
                "url",
                format!("is not a URL of a message; write one that begins with {schemes} and has no user name"),
            );
        }
    }

    fn check_mail(&mut self, settings: &Settings, secrets: &Secrets) {
        let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
        if settings.host.is_empty() || settings.host.len() > 255 || !settings.host.chars().all(is_host) {
            self.add("host", "write the mail server's name or address, such as smtp.example.org");
        }
        if settings.port == Some(0) {
            self.add("port", "write a port from 1 to 65535, or none for the usual one");
        }
        if !settings.ca.is_empty() && (settings.ca.len() > 64 * 1024 || !is_authority(&settings.ca)) {
            self.add(
                "ca",
                "write PEM certificates of at most 64 KiB without a key, beginning with -----BEGIN CERTIFICATE-----",
            );
        }
        // The syntax of an address has no room for a line end, so none can add a header.
        if settings.from.parse::<Address>().is_err() {
            self.add(
                "from",
                format!(
                    "`{:.64}` is not a mail address; write one such as carillon@example.org",
                    printable(&settings.from)
                ),
            );
        }
        if settings.to.is_empty() || settings.to.len() > 50 {
            self.add("to", "write 1 to 50 mail addresses");
        }
        if let Some(wrong) = settings.to.iter().find(|to| to.parse::<Address>().is_err()) {
            self.add(
                "to",
                format!("`{:.64}` is not a mail address; write one such as ops@example.org", printable(wrong)),
            );
        }
        if secrets.password.is_some() == settings.user.is_empty() {
            self.add("user", "a mail server wants a user and a password, or neither of them");
        }
        if secrets.password.is_some() && settings.tls == Some(Tls::None) {
            self.add("tls", "a password is not sent without TLS; choose starttls or tls");
        }
    }
}

fn printable(text: &str) -> String {
    text.escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn wrong(kind: ChannelKind, settings: Value, secrets: Value) -> Vec<String> {
        let settings = serde_json::from_value(settings).unwrap();
        let secrets = serde_json::from_value(secrets).unwrap();
        let channel = Channel { kind, settings, secrets, locale: Locale::default() };
        check(&channel, PlainHttp::Nowhere).into_iter().map(|error| error.field).collect()
    }

    // covers: W13, S33
    #[test]
    fn a_url_that_holds_a_secret_is_never_called_in_the_clear() {
        let chats = ChannelKind::ALL.iter().copied().filter(|kind| kind.has_secret_url());
        let url = |scheme: &str| json!({"url": format!("{scheme}://hooks.example/x")});
        let mut kinds = 0;
        for kind in chats {
            kinds += 1;
            assert_eq!(wrong(kind, json!({}), url("https")), [""; 0], "{kind}");
            assert_eq!(wrong(kind, json!({}), url("http")), ["url"], "{kind}");
        }
        use ChannelKind::Pagerduty;
        assert!(kinds >= 5, "{kinds} kinds of chats");
        assert_eq!(wrong(Pagerduty, url("http"), json!({"routing_key": "r"})), ["url"]);
        assert_eq!(wrong(Pagerduty, url("https"), json!({"routing_key": "r"})), [""; 0]);
        let on_loopback = |url: &str| PlainHttp::OnLoopback.allows(&Url::parse(url).unwrap());
        assert!(
            on_loopback("http://127.0.0.1:9000/x") && on_loopback("http://[::1]/") && on_loopback("http://localhost/")
        );
        assert!(!on_loopback("http://127.0.0.1.example/") && !on_loopback("http://10.0.0.1/"));
    }

    // covers: S33
    #[test]
    fn a_channel_has_what_its_kind_needs_and_nothing_else() {
        let mail =
            json!({"host": "smtp.example.org", "from": "a@example.org", "to": ["b@example.org", "c@example.org"]});
        assert_eq!(wrong(ChannelKind::Email, mail.clone(), json!({})), [""; 0]);
        let with = |name: &str, value: Value| {
            let mut mail = mail.clone();
            mail[name] = value;
            mail
        };
        for (settings, secrets, field) in [
            (with("to", json!(["b@example.org\r\nBcc: c@example.org"])), json!({}), "to"),
            (with("from", json!("Ops <a@example.org>\n")), json!({}), "from"),
            (with("host", json!("smtp example")), json!({}), "host"),
            (with("ca", json!("no certificate")), json!({}), "ca"),
            (with("ca", json!("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")), json!({}), "ca"),
            (with("user", json!("ops")), json!({}), "user"),
            (with("url", json!("https://x.example/")), json!({}), "url"),
        ] {
            assert_eq!(wrong(ChannelKind::Email, settings.clone(), secrets), [field], "{settings}");
        }
        let bare = with("user", json!("ops"));
        let mut plain = bare.clone();
        plain["tls"] = json!("none");
        assert_eq!(wrong(ChannelKind::Email, bare, json!({"password": "x"})), [""; 0]);
        assert_eq!(wrong(ChannelKind::Email, plain, json!({"password": "x"})), ["tls"]);
        for url in ["", "ftp://a.example/", "https://user@a.example/", "https://:key@a.example/", "/x"] {
            assert_eq!(wrong(ChannelKind::Webhook, json!({"url": url}), json!({})), ["url"], "{url}");
        }
        assert_eq!(wrong(ChannelKind::Slack, json!({}), json!({"url": "https://hooks.example/x"})), [""; 0]);
        assert_eq!(wrong(ChannelKind::Slack, json!({}), json!({})), ["url"]);
        assert_eq!(wrong(ChannelKind::Pagerduty, json!({}), json!({})), ["routing_key"]);
        assert_eq!(wrong(ChannelKind::File, json!({"template": "x"}), json!({})), ["template"]);
    }

    // covers: S34
    #[test]
    fn secrets_are_kept_unless_others_are_given_and_are_never_shown() {
        let old = Secrets { url: Some("u".to_owned()), secret: Some("s".to_owned()), ..Secrets::default() };
        let new = Secrets { secret: Some(String::new()), ..Secrets::default() }.merged_over(old);
        assert_eq!(new.names(), ["url"]);
        assert_eq!(format!("{new:?}"), "[\"url\"]");
    }

    // covers: S34
    #[test]
    fn an_answer_that_repeats_a_secret_does_not_show_it() {
        let secrets = Secrets {
            url: Some("https://hooks.example/services/T0/B1/s3cr3t".to_owned()),
            secret: Some("geheimnis".to_owned()),
            ..Secrets::default()
        };
        for said in [
            "no route /services/T0/B1/s3cr3t",
            "https://hooks.example/services/T0/B1/s3cr3t is gone",
            "the token s3cr3t is unknown",
            "sign with geheimnis",
        ] {
            let shown = secrets.hidden_in(said);
            assert!(shown.contains("***") && !shown.contains("s3cr3t") && !shown.contains("geheimnis"), "{shown}");
        }
        assert_eq!(secrets.hidden_in("HTTP 404: no such service"), "HTTP 404: no such service");
        let robot = "https://oapi.example/robot/send?access_token=t0k%2Fen-of-it&v=1".to_owned();
        let secrets = Secrets { url: Some(robot), ..Secrets::default() };
        for said in ["the token t0k/en-of-it is unknown", "access_token=t0k%2Fen-of-it&timestamp=1 is refused"] {
            let shown = secrets.hidden_in(said);
            assert!(shown.contains("***") && !shown.contains("en-of-it"), "{shown}");
        }
    }
}
