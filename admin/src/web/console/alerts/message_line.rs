//! A delivery as a line of a page.

use carillon_alerts::message::{Message, MessageKind, one_line};
use carillon_store::alert::deliveries::{Delivery, DeliveryState};

use crate::web::console::alerts::words::happened;
use crate::web::locale::Language;

/// A delivery with the words and signs that the console shows.
pub struct DeliveryLine {
    pub delivery: Delivery,
    /// In the language of the page.
    pub title: String,
    /// As the channel gets it.
    pub text: String,
}

pub fn lines(language: Language, deliveries: Vec<Delivery>) -> Vec<DeliveryLine> {
    deliveries.into_iter().map(|delivery| DeliveryLine::new(language, delivery)).collect()
}

impl DeliveryLine {
    fn new(language: Language, delivery: Delivery) -> Self {
        let message: Option<Message> = serde_json::from_str(&delivery.message).ok();
        let title = message.as_ref().map_or_else(|| delivery.kind.clone(), |message| title(language, message));
        let text = message.map_or_else(String::new, |message| message.lines().join("\n"));
        Self { delivery, title, text }
    }

    /// The key of its word.
    pub fn state(&self) -> &'static str {
        match (self.delivery.state(), self.delivery.attempts) {
            (DeliveryState::Pending, 0) => "message-waiting",
            (DeliveryState::Pending, _) => "message-trying-again",
            (DeliveryState::Sent, _) => "message-sent",
            (DeliveryState::Failed, _) => "message-given-up",
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
}

/// [`Message::title`] in the language of the page.
fn title(language: Language, message: &Message) -> String {
    let key = match message.kind {
        MessageKind::Test => return language.text("alert-title-test").to_string(),
        MessageKind::Resolved => "alert-title-recovered",
        MessageKind::Escalated => "alert-title-escalated",
        MessageKind::Reminder => "alert-title-reminder",
        MessageKind::Opened | MessageKind::Update => "alert-title",
    };
    let place = message.app.as_deref().unwrap_or("Carillon");
    let text = language.text(key).with("place", place).with("rule", &message.rule);
    one_line(&text.with("what", what(language, message)).to_string())
}

fn what(language: Language, message: &Message) -> String {
    match &message.items[..] {
        [item] if message.open_items <= 1 => {
            let mut text = language.text(happened(item.kind));
            if let Some(job) = &item.job {
                text = language.text("alert-job-happened").with("job", job).with("happened", text);
            }
            if item.events > 1 {
                text = language.text("alert-happened-often").with("happened", text).count("events", item.events);
            }
            text.to_string()
        }
        items => {
            let first = items.first().map(|item| item.kind);
            let is_one_kind = items.iter().all(|item| Some(item.kind) == first);
            let key =
                first.map_or("happened-none", |kind| if is_one_kind { happened(kind) } else { "happened-several" });
            let text = language.text("alert-many-happened").with("happened", language.text(key));
            text.count("items", message.open_items).count("events", message.events).to_string()
        }
    }
}

#[cfg(test)]
mod tests {
    use carillon_alerts::message::MessageItem;
    use carillon_scheduler::AlertKind;

    use super::*;

    #[test]
    fn a_title_is_that_of_the_message_in_the_language_of_the_page() {
        let item = |kind, events| MessageItem {
            kind,
            job_id: Some(7),
            job: Some("Close".to_owned()),
            run_id: None,
            events,
            text: "…".to_owned(),
        };
        let failed = || item(AlertKind::Failed, 2);
        let lists = [
            vec![],
            vec![failed()],
            vec![MessageItem { job: None, ..item(AlertKind::NoExecutor, 1) }],
            vec![failed(), failed()],
            vec![failed(), item(AlertKind::Gap, 1)],
        ];
        let kinds = [
            MessageKind::Opened,
            MessageKind::Reminder,
            MessageKind::Escalated,
            MessageKind::Resolved,
            MessageKind::Test,
        ];
        for (items, kind) in lists.iter().flat_map(|items| kinds.map(|kind| (items.clone(), kind))) {
            let open_items = items.len() as i64;
            let message = Message { kind, items, open_items, events: 3, ..Message::test("Hook", 0) };
            assert_eq!(title(Language::English, &message), message.title());
        }
        let message = Message { kind: MessageKind::Opened, items: lists[1].clone(), ..Message::test("Hook", 0) };
        assert!(title(Language::Chinese, &message).contains("任务 Close 失败，2 个事件"));
    }
}
