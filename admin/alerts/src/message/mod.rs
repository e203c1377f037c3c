//! What a message says, before a channel gives it a form. It is stored with its delivery: a message that is tried again says the same.

use carillon_scheduler::{AlertKind, Millis};
use carillon_store::alert::alerts::{Alert, AlertItem};
use carillon_store::db::sql::text::cut;
use serde::{Deserialize, Serialize};

mod lines;
mod links;
mod locale;
mod title;
pub mod words;

pub use links::Links;
pub use locale::Locale;

/// Items that a message names.
pub const ITEMS: u32 = 10;
/// Of the text of an item, in bytes.
const MOST_TEXT: usize = 300;

carillon_scheduler::words! {
    /// Why a message is sent.
    pub enum MessageKind: "kind of message" {
        Opened = 0 "opened",
        /// Further events.
        Update = 1 "update",
        /// It is still open.
        Reminder = 2 "reminder",
        Escalated = 3 "escalated",
        Resolved = 4 "resolved",
        /// The channel had its messages of the hour, and others were left out.
        More = 5 "more",
        Test = 6 "test",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub kind: MessageKind,
    /// The same for all messages of an alert.
    pub alert_id: Option<i64>,
    pub rule: String,
    pub app: Option<String>,
    /// All events of the alert; of `more` the messages that were left out.
    pub events: i64,
    /// Those that no message has told of.
    pub new_events: i64,
    /// Jobs, executors and conditions that are not over.
    pub open_items: i64,
    /// With those that are over.
    pub all_items: i64,
    pub opened_at: Millis,
    pub last_at: Millis,
    pub resolved_at: Option<Millis>,
    /// The page of the alert; None: there is no public URL.
    pub alert_url: Option<String>,
    /// The latest ones.
    pub items: Vec<MessageItem>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageItem {
    pub kind: AlertKind,
    pub job_id: Option<i64>,
    pub job: Option<String>,
    pub run_id: Option<i64>,
    /// The page of the run.
    pub run_url: Option<String>,
    pub events: i64,
    pub text: String,
}

/// What a message is about, beside its alert.
pub struct About {
    /// The items, those that are not over first.
    pub items: Vec<AlertItem>,
    pub open_items: i64,
    pub all_items: i64,
}

impl Message {
    pub fn new(kind: MessageKind, alert: &Alert, about: &About, links: &Links) -> Self {
        // A message names the items that are not over; the message about the end names all.
        let is_meant = |item: &AlertItem| kind == MessageKind::Resolved || item.resolved_at.is_none();
        Self {
            kind,
            alert_id: Some(alert.id),
            rule: alert.rule.clone().unwrap_or_default(),
            app: alert.app.clone(),
            events: alert.events,
            new_events: alert.events - alert.told,
            open_items: about.open_items,
            all_items: about.all_items,
            opened_at: alert.opened_at,
            last_at: alert.last_at,
            resolved_at: alert.resolved_at,
            alert_url: links.alert(alert.id),
            items: about.items.iter().filter(|item| is_meant(item)).map(|item| MessageItem::new(item, links)).collect(),
        }
    }

    pub fn test(channel: &str, now: Millis) -> Self {
        Self {
            kind: MessageKind::Test,
            alert_id: None,
            rule: format!("test of the channel {channel}"),
            app: None,
            events: 0,
            new_events: 0,
            open_items: 0,
            all_items: 0,
            opened_at: now,
            last_at: now,
            resolved_at: None,
            alert_url: None,
            items: vec![],
        }
    }

    /// Stands for messages that were left out. Their number is known when it is sent.
    pub fn more(links: &Links, now: Millis) -> Self {
        Self { kind: MessageKind::More, alert_url: links.alerts(), rule: String::new(), ..Self::test("", now) }
    }
}

impl MessageItem {
    fn new(item: &AlertItem, links: &Links) -> Self {
        Self {
            kind: item.kind,
            job_id: item.job_id,
            job: item.job.clone(),
            run_id: item.run_id,
            run_url: item.run_id.and_then(|id| links.run(id)),
            events: item.events,
            text: cut(&item.message, MOST_TEXT),
        }
    }
}

/// Executors and people write a part of it: a line end must not begin a header or a line of its own.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c }).collect()
}
