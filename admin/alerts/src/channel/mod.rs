//! Channels: what each needs, what it sends, and how its answer is judged. A new kind is a file beside this one, its lines here
//! and those of `kind.rs`.

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

use carillon_scheduler::Millis;

use crate::channel::attempt::{Answer, Call};
use crate::message::Message;

pub use attempt::Attempt;
pub use kind::ChannelKind;
pub use sender::Sender;
pub use settings::{Channel, PlainHttp, Secrets, Settings, Tls, check, context};

/// A request, and the judge of its answer.
type Request = (Call, fn(&Answer) -> Attempt);

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
