//! Sends a message on a channel of any kind.

use std::path::PathBuf;
use std::time::Duration;

use carillon_engine::outgoing::Connector;
use carillon_scheduler::Millis;
use carillon_store::alert::deliveries::Delivery;

use crate::channel::attempt::{Answer, Attempt, Call};
use crate::channel::client::HttpClient;
use crate::channel::kind::ChannelKind;
use crate::channel::settings::Channel;
use crate::channel::{dingtalk, email, feishu, file, pagerduty, slack, teams, webhook, wecom};
use crate::message::Message;

/// For one try, from the resolution of a name to the end of the answer.
const TIME_LIMIT: Duration = Duration::from_secs(20);

pub struct Sender {
    http: HttpClient,
    connector: Connector,
    /// Keeps the ids of two clusters apart.
    cluster: String,
    folder: PathBuf,
    time_limit: Duration,
}

impl Sender {
    /// # Errors
    /// No TLS is at hand.
    pub fn new(cluster: String, folder: PathBuf, connector: Connector) -> Result<Self, String> {
        let http = HttpClient::new(connector.clone())?;
        Ok(Self { http, connector, cluster, folder, time_limit: TIME_LIMIT })
    }

    /// With another limit for one try than 20 s.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit, ..self }
    }

    /// One try.
    pub async fn send(&self, channel: &Channel, delivery: &Delivery, message: &Message, now: Millis) -> Attempt {
        let sent = tokio::time::timeout(self.time_limit, self.attempt(channel, delivery, message, now)).await;
        let attempt =
            sent.unwrap_or_else(|_| Attempt::down(format!("no answer within {} s", self.time_limit.as_secs_f64())));
        attempt.map_answer(|answer| channel.secrets.hidden_in(answer))
    }

    async fn attempt(&self, channel: &Channel, delivery: &Delivery, message: &Message, now: Millis) -> Attempt {
        // A receiver knows by it a message that comes twice.
        let event_id = format!("{}-{}", self.cluster, delivery.id);
        let (call, check_reply): (Call, fn(&Answer) -> Attempt) = match channel.kind {
            ChannelKind::Email => {
                return email::send(&self.connector, channel, &event_id, message, delivery.attempts).await;
            }
            ChannelKind::File => return file::send(&self.folder, &channel.locale, &event_id, message).await,
            ChannelKind::Webhook => (webhook::call(channel, &event_id, message, now), Answer::by_status),
            ChannelKind::Slack => (slack::call(channel, message), Answer::by_status),
            ChannelKind::Teams => (teams::call(channel, message), Answer::by_status),
            ChannelKind::Dingtalk => (dingtalk::call(channel, message, now), dingtalk::check_reply),
            ChannelKind::Feishu => (feishu::call(channel, message, now), feishu::check_reply),
            ChannelKind::Wecom => (wecom::call(channel, message), wecom::check_reply),
            ChannelKind::Pagerduty => (pagerduty::call(channel, &self.cluster, &event_id, message), Answer::by_status),
        };
        match self.http.post(call, now).await {
            Ok(answer) => check_reply(&answer),
            Err(why) => Attempt::down(why),
        }
    }
}
