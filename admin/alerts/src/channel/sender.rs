//! Sends a message on a channel of any kind.

use std::path::PathBuf;

use carillon_engine::outgoing::Connector;
use carillon_scheduler::Millis;

use crate::channel::attempt::{Answer, Attempt, Call};
use crate::channel::client::HttpClient;
use crate::channel::kind::ChannelKind;
use crate::channel::settings::Channel;
use crate::channel::{dingtalk, email, feishu, file, pagerduty, slack, teams, webhook, wecom};
use crate::message::Message;

pub struct Sender {
    http: HttpClient,
    /// Keeps the ids of two clusters apart.
    cluster: String,
    folder: PathBuf,
}

impl Sender {
    /// # Errors
    /// No TLS is at hand.
    pub fn new(cluster: String, folder: PathBuf, connector: Connector) -> Result<Self, String> {
        Ok(Self { http: HttpClient::new(connector)?, cluster, folder })
    }

    /// One try. The delivery's id makes the id by which a receiver knows a message that comes twice.
    pub async fn send(&self, channel: &Channel, delivery_id: i64, message: &Message, now: Millis) -> Attempt {
        let event_id = format!("{}-{delivery_id}", self.cluster);
        let (call, judge): (Call, fn(&Answer) -> Attempt) = match channel.kind {
            ChannelKind::Email => return email::send(channel, &event_id, message).await,
            ChannelKind::File => return file::send(&self.folder, &event_id, message).await,
            ChannelKind::Webhook => (webhook::call(channel, &event_id, message, now), Answer::by_status),
            ChannelKind::Slack => (slack::call(channel, message), Answer::by_status),
            ChannelKind::Teams => (teams::call(channel, message), Answer::by_status),
            ChannelKind::Dingtalk => (dingtalk::call(channel, message, now), dingtalk::judge),
            ChannelKind::Feishu => (feishu::call(channel, message, now), feishu::judge),
            ChannelKind::Wecom => (wecom::call(channel, message), wecom::judge),
            ChannelKind::Pagerduty => (pagerduty::call(channel, &self.cluster, &event_id, message), Answer::by_status),
        };
        match self.http.post(call).await {
            Ok(answer) => judge(&answer),
            Err(why) => Attempt::again(why),
        }
    }
}
