//! The kinds of channels.

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    Email,
    Webhook,
    Slack,
    Teams,
    Dingtalk,
    Feishu,
    Wecom,
    Pagerduty,
    File,
}

impl ChannelKind {
    /// Every kind, in the order of the console.
    pub const ALL: [Self; 9] = [
        Self::Email,
        Self::Webhook,
        Self::Slack,
        Self::Teams,
        Self::Dingtalk,
        Self::Feishu,
        Self::Wecom,
        Self::Pagerduty,
        Self::File,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Webhook => "webhook",
            Self::Slack => "slack",
            Self::Teams => "teams",
            Self::Dingtalk => "dingtalk",
            Self::Feishu => "feishu",
            Self::Wecom => "wecom",
            Self::Pagerduty => "pagerduty",
            Self::File => "file",
        }
    }

    /// It is called at a URL that lets in who knows it.
    pub const fn has_secret_url(self) -> bool {
        matches!(self, Self::Slack | Self::Teams | Self::Dingtalk | Self::Feishu | Self::Wecom)
    }
}

impl fmt::Display for ChannelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ChannelKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        known.ok_or_else(|| {
            let allowed = Self::ALL.map(Self::as_str).join(", ");
            format!("`{text:.32}` is not a kind of channel; allowed: {allowed}")
        })
    }
}
