//! Channels: what each needs, what it sends, and how its answer is judged.

mod attempt;
mod authority;
mod client;
mod dingtalk;
mod email;
mod feishu;
mod file;
mod kind;
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

pub use attempt::Attempt;
pub use kind::ChannelKind;
pub use sender::Sender;
pub use settings::{Channel, PlainHttp, Secrets, Settings, Tls, check, context};
