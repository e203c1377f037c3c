//! Channels: what each needs, what it sends, and how its answer is judged. A new kind is a file beside this one and its lines here.

mod attempt;
mod authority;
mod client;
mod dingtalk;
mod email;
mod feishu;
mod file;
mod pagerduty;
mod sender;
mod settings;
mod signature;
mod slack;
mod smtp;
mod teams;
mod template;
mod webhook;
mod wecom;

use carillon_scheduler::{Millis, words};

use crate::channel::attempt::{Answer, Call};
use crate::message::Message;

pub use attempt::Attempt;
pub use sender::Sender;
pub use settings::{Channel, PlainHttp, Secrets, Settings, Tls, check, context};

words! {
    /// What messages of alerts are sent with.
    pub enum ChannelKind: "kind of channel" {
        /// A mail server.
        Email = 0 "email",
        /// An address that gets JSON.
        Webhook = 1 "webhook",
        /// A room of Slack.
        Slack = 2 "slack",
        /// A room of Microsoft Teams.
        Teams = 3 "teams",
        /// A robot of DingTalk.
        Dingtalk = 4 "dingtalk",
        /// A robot of Feishu.
        Feishu = 5 "feishu",
        /// A robot of WeCom.
        Wecom = 6 "wecom",
        /// A service of PagerDuty: it keeps incidents.
        Pagerduty = 7 "pagerduty",
        /// A file of the node.
        File = 8 "file",
    }
}

/// A request, and the judge of its answer.
type Request = (Call, fn(&Answer) -> Attempt);

impl ChannelKind {
    /// The key of its name in the catalogue, and the settings and secrets that it may have.
    const fn facts(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Self::Email => ("channel-email", &["host", "port", "tls", "ca", "user", "password", "from", "to"]),
            Self::Webhook => ("channel-webhook", &["url", "secret", "template"]),
            Self::Slack => ("channel-slack", &["url"]),
            Self::Teams => ("channel-teams", &["url"]),
            Self::Dingtalk => ("channel-dingtalk", &["url", "secret"]),
            Self::Feishu => ("channel-feishu", &["url", "secret"]),
            Self::Wecom => ("channel-wecom", &["url"]),
            Self::Pagerduty => ("channel-pagerduty", &["url", "routing_key"]),
            Self::File => ("channel-file", &[]),
        }
    }

    /// The key of its name in the catalogue.
    pub const fn title(self) -> &'static str {
        self.facts().0
    }

    /// The key of a hint under its fields.
    pub const fn hint(self) -> Option<&'static str> {
        match self {
            Self::File => Some("channel-file-hint"),
            _ => None,
        }
    }

    /// Whether it may have this setting or secret.
    pub fn may_have(self, member: &str) -> bool {
        self.facts().1.contains(&member)
    }

    /// The URL of the channel is its only protection, so it is a secret.
    pub fn has_secret_url(self) -> bool {
        self.may_have("url") && !matches!(self, Self::Webhook | Self::Pagerduty)
    }
}

impl Channel {
    /// The request with a message. `cluster` and `event_id`: by them a receiver knows a message that comes twice. None: the kind is not
    /// called by HTTP.
    fn request(&self, cluster: &str, event_id: &str, message: &Message, now: Millis) -> Option<Request> {
        let request: Request = match self.kind {
            ChannelKind::Email | ChannelKind::File => return None,
            ChannelKind::Webhook => (webhook::call(self, event_id, message, now), Answer::by_status),
            ChannelKind::Slack => (slack::call(self, message), Answer::by_status),
            ChannelKind::Teams => (teams::call(self, message), Answer::by_status),
            ChannelKind::Dingtalk => (dingtalk::call(self, message, now), dingtalk::check_reply),
            ChannelKind::Feishu => (feishu::call(self, message, now), feishu::check_reply),
            ChannelKind::Wecom => (wecom::call(self, message), wecom::check_reply),
            ChannelKind::Pagerduty => (pagerduty::call(self, cluster, event_id, message), Answer::by_status),
        };
        Some(request)
    }
}
