//! What tests send, and where.

use carillon_scheduler::AlertKind;

use crate::channel::{Channel, ChannelKind, Secrets, Settings};
use crate::message::{Locale, Message, MessageItem, MessageKind};

pub fn sample(kind: MessageKind) -> Message {
    let item = |id: i64| MessageItem {
        kind: AlertKind::Failed,
        job_id: Some(id),
        job: Some(format!("close \"day\" {id}")),
        run_id: Some(100 + id),
        run_url: None,
        events: 2,
        text: "run 101 failed: a\r\nBcc: b <&>".to_owned(),
    };
    Message {
        kind,
        alert_id: Some(7),
        rule: "failures".to_owned(),
        app: Some("billing".to_owned()),
        events: 500,
        new_events: 499,
        open_items: 12,
        all_items: 12,
        opened_at: 0,
        last_at: 60_000,
        resolved_at: None,
        alert_url: None,
        items: vec![item(1), item(2)],
    }
}

/// About one job alone.
pub fn one_job(kind: MessageKind) -> Message {
    let message = sample(kind);
    Message { items: message.items[..1].to_vec(), open_items: 1, all_items: 1, ..message }
}

pub fn chat(url: &str, secret: Option<&str>) -> Channel {
    let secrets = Secrets { url: Some(url.to_owned()), secret: secret.map(str::to_owned), ..Secrets::default() };
    Channel { kind: ChannelKind::Dingtalk, settings: Settings::default(), secrets, locale: Locale::default() }
}
