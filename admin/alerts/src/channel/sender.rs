//! Sends a message on a channel of any kind.

use std::path::PathBuf;
use std::time::Duration;

use carillon_engine::outgoing::Connector;
use carillon_scheduler::Millis;
use carillon_store::alert::deliveries::Delivery;

use crate::channel::attempt::Attempt;
use crate::channel::client::HttpClient;
use crate::channel::kind::ChannelKind;
use crate::channel::settings::Channel;
use crate::channel::{email, file};
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
        let Some((call, check_reply)) = channel.request(&self.cluster, &event_id, message, now) else {
            return match channel.kind {
                ChannelKind::File => file::send(&self.folder, &channel.locale, &event_id, message).await,
                _ => email::send(&self.connector, channel, &event_id, message, delivery.attempts).await,
            };
        };
        match self.http.post(call, now).await {
            Ok(answer) => check_reply(&answer),
            Err(why) => Attempt::down(why),
        }
    }
}
