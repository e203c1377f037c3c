//! A delivery as a line of a page.

use carillon_alerts::manage::shown_answer;
use carillon_alerts::message::{Locale, Message};
use carillon_store::alert::deliveries::{Delivery, DeliveryState};

use crate::web::page::PageContext;

/// A delivery with the words and signs that the console shows.
pub struct DeliveryLine {
    pub delivery: Delivery,
    /// Title and text in the language and the zone of the page; a channel gets them in its own.
    pub title: String,
    pub text: String,
    /// What the viewer may see of it.
    pub answer: String,
}

pub fn lines(context: &PageContext, deliveries: Vec<Delivery>) -> Vec<DeliveryLine> {
    deliveries.into_iter().map(|delivery| DeliveryLine::new(context, delivery)).collect()
}

impl DeliveryLine {
    fn new(context: &PageContext, delivery: Delivery) -> Self {
        let locale = Locale { language: context.language, zone: context.zone };
        let message: Option<Message> = serde_json::from_str(&delivery.message).ok();
        let title = message.as_ref().map_or_else(|| delivery.kind.clone(), |message| message.title(&locale));
        let text = message.map_or_else(String::new, |message| message.lines(&locale).join("\n"));
        let answer = shown_answer(&delivery, &context.actor).map_or_else(String::new, |text| context.say(&text));
        Self { delivery, title, text, answer }
    }

    /// The key of its word.
    pub fn state(&self) -> &'static str {
        match (self.delivery.state(), self.delivery.attempts) {
            (DeliveryState::Pending, 0) => "message-waiting",
            (DeliveryState::Pending, _) => "message-trying-again",
            (DeliveryState::Sent, _) => "message-sent",
            (DeliveryState::Failed, _) => "message-given-up",
            (DeliveryState::LeftOut, _) => "message-left-out",
        }
    }

    pub fn is_pending(&self) -> bool {
        self.delivery.state() == DeliveryState::Pending
    }

    pub fn tone(&self) -> &'static str {
        match self.delivery.state() {
            DeliveryState::Pending => "waiting",
            DeliveryState::Sent => "ok",
            DeliveryState::Failed => "failed",
            DeliveryState::LeftOut => "none",
        }
    }

    pub fn icon(&self) -> &'static str {
        match self.delivery.state() {
            DeliveryState::Pending => "clock",
            DeliveryState::Sent => "check",
            DeliveryState::Failed => "cross",
            DeliveryState::LeftOut => "stop",
        }
    }
}
