//! The kinds of channels.

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
    /// The URL of the channel is its only protection, so it is a secret.
    pub const fn has_secret_url(self) -> bool {
        matches!(self, Self::Slack | Self::Teams | Self::Dingtalk | Self::Feishu | Self::Wecom)
    }

    /// Its requests may be signed with a secret.
    pub const fn may_sign(self) -> bool {
        matches!(self, Self::Webhook | Self::Dingtalk | Self::Feishu)
    }

    /// The key of its name in the catalogue.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Email => "channel-email",
            Self::Webhook => "channel-webhook",
            Self::Slack => "channel-slack",
            Self::Teams => "channel-teams",
            Self::Dingtalk => "channel-dingtalk",
            Self::Feishu => "channel-feishu",
            Self::Wecom => "channel-wecom",
            Self::Pagerduty => "channel-pagerduty",
            Self::File => "channel-file",
        }
    }
}
