//! A delivery as a line of a page.

use carillon_alerts::message::Message;
use carillon_store::alert::deliveries::{Delivery, DeliveryState};

/// A delivery with the words and signs that the console shows.
pub struct DeliveryLine {
    pub delivery: Delivery,
    pub title: String,
    pub text: String,
}

impl From<Delivery> for DeliveryLine {
    fn from(delivery: Delivery) -> Self {
        let message: Option<Message> = serde_json::from_str(&delivery.message).ok();
        let title = message.as_ref().map_or_else(|| delivery.kind.clone(), Message::title);
        let text = message.map_or_else(String::new, |message| message.lines().join("\n"));
        Self { delivery, title, text }
    }
}

impl DeliveryLine {
    pub fn state(&self) -> &'static str {
        match (self.delivery.state(), self.delivery.attempts) {
            (DeliveryState::Pending, 0) => "waiting",
            (DeliveryState::Pending, _) => "trying again",
            (DeliveryState::Sent, _) => "sent",
            (DeliveryState::Failed, _) => "given up",
        }
    }

    pub fn tone(&self) -> &'static str {
        match self.delivery.state() {
            DeliveryState::Pending => "waiting",
            DeliveryState::Sent => "ok",
            DeliveryState::Failed => "failed",
        }
    }

    pub fn icon(&self) -> &'static str {
        match self.delivery.state() {
            DeliveryState::Pending => "clock",
            DeliveryState::Sent => "check",
            DeliveryState::Failed => "cross",
        }
    }

    pub fn answer(&self) -> &str {
        self.delivery.answer.as_deref().unwrap_or_default()
    }

    pub fn channel(&self) -> &str {
        self.delivery.channel.as_deref().unwrap_or("deleted")
    }
}
