//! The kinds of channels, their names, and what each may have.

use carillon_scheduler::words;

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
